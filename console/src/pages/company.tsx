export function Company() {
  return <p>soon</p>
}
