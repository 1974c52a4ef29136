export function Overview() {
  return <p>soon</p>
}
