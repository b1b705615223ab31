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

const WAIT_MS = 120; // for answers; what is late is shown when it comes

// What src/serve/page.c names in the page's head: these answers are on their way since then. What has come
// with them is there in the first render, which then is the only one.
const first = location.pathname === "/" ? [paths.agents, paths.inbox] : [paths.inbox];
applyAppearance();
const begin = (): void => {
  createRoot(document.getElementById("app") as HTMLElement).render(<App />);
  activity.start();
};
void Promise.race([Promise.all(first.map((path) => store.ahead(path))), new Promise((resolve) => setTimeout(resolve, WAIT_MS))]).then(begin);
