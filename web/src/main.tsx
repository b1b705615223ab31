// Begins the page.
import { createRoot } from "react-dom/client";
import { activity } from "./api/activity";
import { App } from "./app";
import { applyAppearance } from "./settings";
import "./ui/tokens.css";
import "./ui/ui.css";
import "./shell/shell.css";

applyAppearance();
activity.start();
createRoot(document.getElementById("app") as HTMLElement).render(<App />);
