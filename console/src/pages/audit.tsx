export function Audit() {
  return <p>soon</p>
}
