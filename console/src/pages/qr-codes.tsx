export function QrCodes() {
  return <p>soon</p>
}
