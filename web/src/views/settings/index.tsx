export default function View() {
  return <div className="page"><h1>Settings</h1></div>;
}
