export function Cards() {
  return <p>soon</p>
}
