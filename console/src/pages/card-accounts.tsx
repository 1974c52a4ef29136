export function CardAccounts() {
  return <p>soon</p>
}
