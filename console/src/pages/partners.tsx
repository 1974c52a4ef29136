export function Partners() {
  return <p>soon</p>
}
