export function Ledger() {
  return <p>soon</p>
}
