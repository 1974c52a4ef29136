export function Partner() {
  return <p>soon</p>
}
