export function CoinConfig() {
  return <p>soon</p>
}
