/** A data object of an EMVCo merchant-presented code: two digits of id, two of length, then the value. */
export interface EmvField {
  readonly id: string
  readonly value: string
}

/** The fields as far as their lengths hold. Lengths count characters, as EMVCo's alphanumeric special format does. */
export function readFields(text: string): readonly EmvField[] {
  const fields: EmvField[] = []
  for (let at = 0; at < text.length; ) {
    const [, id, length] = /^(\d{2})(\d{2})/.exec(text.slice(at, at + 4)) ?? []
    const end = at + 4 + Number(length)
    if (id === undefined || end > text.length) break
    fields.push({ id, value: text.slice(at + 4, end) })
    at = end
  }
  return fields
}

/** How many characters of a text its fields cover. */
export const charsOf = (fields: readonly EmvField[]): number =>
  fields.reduce((sum, { value }) => sum + 4 + value.length, 0)

/** CRC-16/CCITT-FALSE in four capital hex digits, over the UTF-8 of a text (EMVCo section 4.7.3). */
export function crc16(text: string): string {
  let crc = 0xffff
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8
    for (let bit = 0; bit < 8; bit++) crc = crc & 0x8000 ? ((crc << 1) ^ 0x1021) & 0xffff : crc << 1
  }
  return crc.toString(16).toUpperCase().padStart(4, '0')
}
