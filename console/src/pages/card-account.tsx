export function CardAccount() {
  return <p>soon</p>
}
