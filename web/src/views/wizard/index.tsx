// A new agent, by talking with the wizard.
export default function Wizard() {
  return <div className="page"><h1>New agent</h1></div>;
}
