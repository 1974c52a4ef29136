export function Operators() {
  return <p>soon</p>
}
