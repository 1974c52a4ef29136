export function Reconciliation() {
  return <p>soon</p>
}
