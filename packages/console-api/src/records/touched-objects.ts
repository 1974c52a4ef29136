/** Ids say what they are of; those of which the console has a page. */
const KINDS = {
  card: 'card',
  qr: 'qrCode',
  mer: 'merchant',
  par: 'partner',
  com: 'company',
  acc: 'cardAccount',
  usr: 'user',
  ccf: 'coinConfig',
  whe: 'webhookEndpoint',
} as const

const ID = /^([a-z]{2,6})_[0-9a-z]{26}$/
const IN_TEXT = /\b[a-z]{2,6}_[0-9a-z]{26}\b/g
const OBJECTS_MAX = 12

export const objectKind = (id: string): (typeof KINDS)[keyof typeof KINDS] | 'other' =>
  KINDS[ID.exec(id)?.[1] as keyof typeof KINDS] ?? 'other'

/** Our ids in these texts; only their form is checked. */
export const idsIn = (...texts: readonly string[]): string[] =>
  [...new Set(texts.flatMap((text) => text.match(IN_TEXT) ?? []))]
    .filter((id) => !/^(?:req|key|cli|sk|opr)_/.test(id))
    .slice(0, OBJECTS_MAX)
