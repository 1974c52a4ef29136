export function User() {
  return <p>soon</p>
}
