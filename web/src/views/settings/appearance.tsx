// How the page looks, in this browser.
import { setAppearance, useAppearance } from "../../settings";
import { Choice } from "../../ui";

export function Appearance() {
  const { theme, density, diff } = useAppearance();
  return (
    <div className="stack">
      <Choice label="Colours" value={theme} onChange={(value) => setAppearance({ theme: value })}
        options={[{ value: "auto", label: "Like the system" }, { value: "light", label: "Light" }, { value: "dark", label: "Dark" }]} />
      <Choice label="Density" value={density} onChange={(value) => setAppearance({ density: value })}
        options={[{ value: "comfortable", label: "Comfortable" }, { value: "compact", label: "Compact" }]} />
      <Choice label="Differences" value={diff} onChange={(value) => setAppearance({ diff: value })}
        options={[{ value: "inline", label: "Inline" }, { value: "split", label: "Side by side" }]} />
      <p className="muted small">Kept in this browser. Motion follows the system's setting.</p>
    </div>
  );
}
