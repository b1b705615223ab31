export default function Wakes() { return null; }
