// The frame of every view, and which view a path shows. Views that are not needed for the first look
// are loaded when they are opened.
import { Component, Suspense, useEffect, useRef, useState, type ComponentType, type ReactNode } from "react";
import { lately } from "./ui/lately";
import { useKeys } from "./keys";
import { back, go, match, usePath, type Params } from "./router";
import { useConnection, OfflineBanner } from "./shell/connection";
import { Header } from "./shell/header";
import { KeysList } from "./shell/keys-list";
import { LoggedOut } from "./shell/logged-out";
import { StoppedBanner } from "./shell/stop";
import { Home } from "./views/home";
import { Empty, Skeleton, Toasts, Trouble } from "./ui";
import { Link } from "./router";

const loadPalette = () => import("./shell/palette");
const Palette = lately(loadPalette);
const page = (load: () => Promise<{ default: ComponentType<{ params: Params }> }>) => lately(load);

// One component for all paths of a view: moving within it must not begin it anew.
const Inbox = page(() => import("./views/inbox"));
const Settings = page(() => import("./views/settings"));
const AgentView = page(() => import("./views/agent"));
const Wizard = page(() => import("./views/wizard"));
const Journal = page(() => import("./views/journal"));

export interface Route {
  pattern: string;
  title: string;
  View: ComponentType<{ params: Params }>;
}
const routes: Route[] = [
  { pattern: "/", title: "Home", View: Home },
  { pattern: "/inbox", title: "Inbox", View: Inbox },
  { pattern: "/inbox/{item}", title: "Inbox", View: Inbox },
  { pattern: "/runs", title: "Runs", View: page(() => import("./views/runs")) },
  { pattern: "/runs/{run}", title: "Run", View: page(() => import("./views/runs/one")) },
  { pattern: "/settings", title: "Settings", View: Settings },
  { pattern: "/settings/{part}", title: "Settings", View: Settings },
  { pattern: "/agents", title: "Agents", View: page(() => import("./views/agent/list")) },
  { pattern: "/agents/{id}", title: "Agent", View: AgentView },
  { pattern: "/agents/{id}/{thread...}", title: "Agent", View: AgentView },
  { pattern: "/journal", title: "Journal", View: Journal },
  { pattern: "/journal/{part}", title: "Journal", View: Journal },
  { pattern: "/journal/{part}/{id}", title: "Journal", View: Journal },
  { pattern: "/wakes", title: "Wakes", View: page(() => import("./views/wakes")) },
  { pattern: "/wizard", title: "New agent", View: Wizard },
  { pattern: "/wizard/{thread...}", title: "New agent", View: Wizard },
];

/** A view that fails must not take the header, and Stop, with it. */
class Guard extends Component<{ children: ReactNode }, { error: unknown }> {
  override state = { error: null as unknown };
  static getDerivedStateFromError(error: unknown) {
    return { error };
  }
  override render() {
    if (this.state.error === null) return this.props.children;
    return (
      <div className="page">
        <Trouble error={this.state.error} what="This view failed" retry={() => this.setState({ error: null })} />
      </div>
    );
  }
}

function Missing() {
  return (
    <div className="page">
      <h1 className="visually-hidden">Not found</h1>
      <Empty title="There is nothing here" action={<Link to="/" className="button button-plain">Go home</Link>}>
        The address may be mistyped, or what it named is gone.
      </Empty>
    </div>
  );
}

function useFocusOnView(path: string) {
  const main = useRef<HTMLElement>(null);
  const first = useRef(true);
  const view = path.split("/")[1];
  useEffect(() => {
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [view]);
  return main;
}

/** The palette is there before it is asked for: keys typed after Ctrl K must find its input. */
function usePaletteSoon(): void {
  useEffect(() => {
    const timer = setTimeout(() => void loadPalette().catch(() => undefined), 400); // after the first look
    return () => clearTimeout(timer);
  }, []);
}

export function App() {
  const path = usePath();
  const connection = useConnection();
  const [search, setSearch] = useState(false);
  const [help, setHelp] = useState(false);
  const main = useFocusOnView(path);
  usePaletteSoon();
  useKeys([
    { keys: "g h", label: "Home", run: () => go("/") },
    { keys: "g i", label: "Inbox", run: () => go("/inbox") },
    { keys: "g a", label: "Agents", run: () => go("/agents") },
    { keys: "g j", label: "Journal", run: () => go("/journal") },
    { keys: "g w", label: "Wakes", run: () => go("/wakes") },
    { keys: "g r", label: "Runs", run: () => go("/runs") },
    { keys: "g s", label: "Settings", run: () => go("/settings") },
    { keys: "c", label: "Chat with an agent", run: () => setSearch(true) },
    { keys: "/", label: "Search", stands: "first", run: () => setSearch(true) },
    { keys: "Ctrl k", label: "Search and go anywhere", run: () => setSearch((on) => !on), always: true },
    { keys: "?", label: "This list of keys", stands: "first", run: () => setHelp(true) },
    { keys: "Escape", label: "Back", run: () => back() },
  ]);
  const found = routes.map((route) => ({ route, params: match(route.pattern, path) })).find(({ params }) => params);
  useEffect(() => {
    document.title = `${found?.route.title ?? "Not found"} · Dormouse`;
  }, [found?.route.title]);
  if (connection === "loggedOut") return <LoggedOut />;
  return (
    <>
      <a className="skip" href="#main">Skip to content</a>
      <Header onSearch={() => setSearch(true)} />
      <StoppedBanner />
      <OfflineBanner />
      <main id="main" ref={main} tabIndex={-1}>
        <Guard key={found?.route.title}>
          <Suspense fallback={<div className="page"><Skeleton lines={6} /></div>}>
            {found?.params ? <found.route.View params={found.params} /> : <Missing />}
          </Suspense>
        </Guard>
      </main>
      {search && <Suspense fallback={null}><Palette onClose={() => setSearch(false)} /></Suspense>}
      {help && <KeysList onClose={() => setHelp(false)} />}
      <Toasts />
    </>
  );
}
