import type { Section } from './check.ts'
import { expired } from './checks/expired-code.ts'
import { at, isDone } from './expect.ts'
import { interpretationOf, type SettingName } from './interpretation.ts'
import { cookieOf } from './session.ts'
import { cancelPath, PATHS, type Subject } from './subject.ts'

/** How a server reads the specification at a point where it is silent, found by requests. */
export interface Reading {
  /** Name of the setting that stands for the point. */
  readonly setting: SettingName
  /** Section of the specification. */
  readonly section: string
  readonly value: string
  /** What the value means, as the end of "your server reads section 4.5 as …". */
  readonly words: string
  /** The value that the checks hold the server to: what it publishes, or the default. */
  readonly held: string
}

interface Probe {
  readonly setting: SettingName
  readonly section: string
  /** Checks whose outcome depends on the reading. */
  readonly decides: RegExp
  readonly words: Readonly<Record<string, string>>
  /** The value, or undefined where the responses do not show it. */
  readonly read: (subject: Subject) => Promise<string | undefined>
}

const MISSING_CARD = 'card_00000000000000000000000000'
const MISSING_COIN = 'ccf_00000000000000000000000000'
/** A shorter time than this is no instant in milliseconds since 1970. */
const INSTANT_MS_MIN = 1e11

async function searchWith(subject: Subject, cookie: string | undefined, more: object = {}) {
  const { headers, credentials } = await subject.asPartner()
  const { companyId, cardAccountId } = credentials
  const body = { companyId, cardAccountId, svcCardId: MISSING_CARD, ...more }
  return subject.call('POST', PATHS.search, body, { ...headers, ...(cookie !== undefined && { cookie }) })
}

const PROBES: readonly Probe[] = [
  {
    setting: 'ACCESS_KEY_ALONE',
    section: '5.5',
    decides: /^4\.2\.accessKey\.alone$/,
    words: {
      reject: 'merchantAccessKey without a token cancels nothing',
      accept: 'merchantAccessKey without a token cancels a QR code',
    },
    async read(subject) {
      const { accessKey: merchantAccessKey } = subject.merchant()
      if (merchantAccessKey === undefined) return undefined
      const path = cancelPath(await subject.newQrCode())
      return isDone(await subject.call('PATCH', path, {}, { merchantAccessKey })) ? 'accept' : 'reject'
    },
  },
  {
    setting: 'COIN_LOOKUP_TOKEN',
    section: '4.5',
    decides: /^4\.5\.merchant$|^5\.coins\.token\.foreign/,
    words: {
      both: 'tokens of partners and of merchants are valid for the lookup',
      partner: 'only tokens of partners are valid for the lookup',
    },
    async read(subject) {
      const path = `${PATHS.coins}/${subject.credentials.coinConfigId ?? MISSING_COIN}`
      const response = await subject.call('GET', path, undefined, await subject.asMerchant())
      if (response.status === 401) return 'partner'
      return isDone(response) || response.status === 404 ? 'both' : undefined
    },
  },
  {
    setting: 'EXPIRED_STATUS',
    section: '3.1',
    decides: /^2\.3\.create\.expired$/,
    words: {
      ACTIVE: 'an expired QR code shows the status ACTIVE',
      CANCELLED: 'an expired QR code shows the status CANCELLED',
    },
    async read(subject) {
      const status = at(await expired(subject), 'payload.status')
      return typeof status === 'string' ? status : undefined
    },
  },
  {
    setting: 'SEARCH_COOKIE',
    section: '4.4',
    decides: /^5\.search\.cookie\./,
    words: {
      partner: 'the session cookie of any token of the partner serves the search',
      token: 'only the session cookie of the same token serves the search',
      any: 'the search does not check the session cookie',
    },
    async read(subject) {
      const { cookie } = await subject.asPartner()
      if (!isDone(await searchWith(subject, cookie))) return undefined
      if (isDone(await searchWith(subject, undefined))) return 'any'
      const other = cookieOf(await subject.partnerTokenResponse())
      if (other === undefined || cookie === undefined) return undefined
      return isDone(await searchWith(subject, other)) ? 'partner' : 'token'
    },
  },
  {
    setting: 'SECOND_CANCEL',
    section: '3.1',
    decides: /^4\.2\.(?:repeat|together)$/,
    words: {
      same: 'cancelling a cancelled QR code succeeds again',
      conflict: 'cancelling a cancelled QR code is a conflict (409)',
    },
    async read(subject) {
      const qrCodeId = await subject.newQrCode()
      if (!isDone(await subject.cancel(qrCodeId))) return undefined
      const again = await subject.cancel(qrCodeId)
      if (again.status === 409) return 'conflict'
      return isDone(again) ? 'same' : undefined
    },
  },
  {
    setting: 'SUCCESS_RESULT_CODE',
    section: '2.1',
    decides: /^4\.1\.resultCode\.zero$/,
    words: {
      '0': 'resultCode is 0 when a token was issued',
      '200': 'resultCode is 200 when a token was issued',
    },
    async read(subject) {
      const code = at(await subject.tokenResponse(), 'resultCode')
      return typeof code === 'number' ? String(code) : undefined
    },
  },
  {
    setting: 'TOKEN_EXPIRY',
    section: '2.1',
    decides: /^4\.1\.expiry\.absolute$/,
    words: {
      instant: 'expiry of a token is an instant, in milliseconds since 1970',
      duration: 'expiry of a token is the time that is left, in milliseconds',
    },
    async read(subject) {
      const expiry = at(await subject.tokenResponse(), 'expiry')
      if (typeof expiry !== 'number' || expiry <= 0) return undefined
      return expiry < INSTANT_MS_MIN ? 'duration' : 'instant'
    },
  },
  {
    setting: 'UNKNOWN_FIELDS',
    section: '4',
    decides: /^4\.[23]\.unknown-field$|^4\.4\.\w+\.unknown-field$|^2\.3\.create\.unknown$/,
    words: {
      reject: 'a field that the operation does not know is refused',
      ignore: 'a field that the operation does not know has no effect',
    },
    async read(subject) {
      const { cookie } = await subject.asPartner()
      if (!isDone(await searchWith(subject, cookie))) return undefined
      const response = await searchWith(subject, cookie, { unknownField: 'x' })
      if (response.status === 400) return 'reject'
      return isDone(response) ? 'ignore' : undefined
    },
  },
]

/** Finds out every point that decides a check of these sections. A point that cannot be found out is left out. */
export async function readingsOf(
  subject: Subject,
  sections: readonly Section[],
): Promise<readonly Reading[]> {
  const isMade = ({ decides }: Probe) =>
    sections.some(({ checks }) => checks.some(({ id }) => decides.test(id)))
  const found = await Promise.all(PROBES.filter(isMade).map((probe) => readingOf(subject, probe)))
  return found.filter((reading) => reading !== undefined)
}

async function readingOf(subject: Subject, probe: Probe): Promise<Reading | undefined> {
  const { setting, section, words } = probe
  try {
    const value = await probe.read(subject)
    const meaning = value === undefined ? undefined : words[value]
    if (value === undefined || meaning === undefined) return undefined
    return { setting, section, value, words: meaning, held: await interpretationOf(subject, setting) }
  } catch {
    // Whatever hinders the question is a failure of checks, which report it.
    return undefined
  }
}

/** The setting whose reading decides the outcome of a check. */
export const settingOf = (checkId: string): SettingName | undefined =>
  PROBES.find(({ decides }) => decides.test(checkId))?.setting
