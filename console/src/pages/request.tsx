export function Request() {
  return <p>soon</p>
}
