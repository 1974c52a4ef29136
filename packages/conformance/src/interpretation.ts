import type { HttpResponse } from './exchange.ts'
import { at, wantFailure, wantStatus } from './expect.ts'
import type { Subject } from './subject.ts'

/** How a server reads the specification unless it says otherwise, by the name of the setting. */
export const DEFAULTS = {
  ACCESS_KEY_ALONE: 'reject',
  BUSINESS_TIME_ZONE: 'Asia/Kolkata',
  CARD_AMOUNTS: 'whole',
  CARD_REPEAT_SECONDS: '120',
  COIN_LOOKUP_TOKEN: 'both',
  COIN_LOT_ORDER: 'expiry',
  EXPIRED_STATUS: 'ACTIVE',
  SEARCH_COOKIE: 'partner',
  SECOND_CANCEL: 'same',
  SUCCESS_RESULT_CODE: '0',
  TOKEN_EXPIRY: 'instant',
  TOKEN_TTL_SECONDS: '3600',
  UNKNOWN_FIELDS: 'reject',
}

export type SettingName = keyof typeof DEFAULTS

/** How the server says that it reads the specification, at `/.well-known/svc-interpretation.json`. */
export async function interpretationOf(subject: Subject, setting: SettingName): Promise<string> {
  const response = await subject.once('the interpretation settings', () =>
    subject.send({ method: 'GET', path: '/.well-known/svc-interpretation.json' }),
  )
  const listed = response.status === 200 ? at(response, 'interpretations') : undefined
  const entries = Array.isArray(listed) ? (listed as { setting?: unknown; value?: unknown }[]) : []
  const value = entries.find((entry) => entry.setting === setting)?.value
  return typeof value === 'string' ? value : DEFAULTS[setting]
}

/**
 * Decision C14: a field that the operation does not know is refused by name, or has no effect where `UNKNOWN_FIELDS`
 * says so: then resolves to true.
 */
export async function wantUnknownField(
  subject: Subject,
  response: HttpResponse,
  name: string,
): Promise<boolean> {
  const isIgnored = (await interpretationOf(subject, 'UNKNOWN_FIELDS')) === 'ignore'
  if (isIgnored) wantStatus(response, 200)
  else wantFailure(response, 400, 'validation_failed', name)
  return isIgnored
}
