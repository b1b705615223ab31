export default function View() {
  return <div className="page"><h1>Runs</h1></div>;
}
