export function LedgerAccount() {
  return <p>soon</p>
}
