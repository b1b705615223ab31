export default function View() {
  return <div className="page"><h1>Run</h1></div>;
}
