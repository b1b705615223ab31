// Settings: what is connected, what was allowed, and how the page looks. Each part has its own address.
import type { ComponentType } from "react";
import { Link, type Params } from "../../router";
import { cx, useHere } from "../../ui";
import { About } from "./about";
import { Appearance } from "./appearance";
import { Google } from "./google";
import { Grants } from "./grants";
import { Models } from "./models";
import { Secrets } from "./secrets";
import { Slack } from "./slack";
import "./settings.css";

const PARTS: { key: string; label: string; View: ComponentType }[] = [
  { key: "models", label: "Models", View: Models },
  { key: "secrets", label: "Secrets", View: Secrets },
  { key: "slack", label: "Slack", View: Slack },
  { key: "google", label: "Google", View: Google },
  { key: "allowed", label: "Allowed", View: Grants },
  { key: "appearance", label: "Appearance", View: Appearance },
  { key: "about", label: "About", View: About },
];

export default function Settings({ params }: { params: Params }) {
  const here = PARTS.find(({ key }) => key === params["part"]) ?? PARTS[0];
  const bar = useHere<HTMLElement>(here?.key ?? "");
  if (!here) return null;
  return (
    <div className="page settings">
      <nav ref={bar} aria-label="Settings" className="settings-nav">
        <h1>Settings</h1>
        {PARTS.map(({ key, label }) => (
          <Link key={key} to={`/settings/${key}`} className={cx("settings-link", key === here.key && "settings-here")} aria-current={key === here.key ? "page" : undefined}>{label}</Link>
        ))}
      </nav>
      <section aria-labelledby="part" className="stack column settings-part">
        <h2 id="part">{here.label}</h2>
        <here.View />
      </section>
    </div>
  );
}
