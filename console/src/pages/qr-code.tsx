export function QrCode() {
  return <p>soon</p>
}
