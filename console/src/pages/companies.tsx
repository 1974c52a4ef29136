export function Companies() {
  return <p>soon</p>
}
