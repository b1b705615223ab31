// Begins the page.
import { createRoot } from "react-dom/client";
import { activity } from "./api/activity";
import { paths } from "./api/client";
import { store } from "./api/store";
import { App } from "./app";
import { applyAppearance } from "./settings";
import "./ui/tokens.css";
import "./ui/ui.css";
import "./shell/shell.css";

// Asked for before the first render, not after it: the answers are on their way meanwhile.
if (location.pathname === "/") store.ahead(paths.agents);
store.ahead(paths.inbox);
applyAppearance();
activity.start();
createRoot(document.getElementById("app") as HTMLElement).render(<App />);
