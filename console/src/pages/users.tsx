export function Users() {
  return <p>soon</p>
}
