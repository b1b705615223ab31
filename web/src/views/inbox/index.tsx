export default function View() {
  return <div className="page"><h1>Inbox</h1></div>;
}
