export function Account() {
  return <p>soon</p>
}
