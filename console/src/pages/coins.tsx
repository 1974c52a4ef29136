export function Coins() {
  return <p>soon</p>
}
