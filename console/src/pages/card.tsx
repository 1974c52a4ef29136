export function Card() {
  return <p>soon</p>
}
