export function Requests() {
  return <p>soon</p>
}
