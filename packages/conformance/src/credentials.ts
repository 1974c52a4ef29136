/** A merchant of the server under test. */
export interface MerchantCredentials {
  readonly apiKey: string
  readonly accessKey?: string
}

export interface SharedKey {
  readonly kty?: string
  readonly kid: string
  readonly alg: string
  readonly enc: string
  /** 32 bytes in base64url. */
  readonly k: string
}

/** A card or rewards partner: with a client of the token operation, or with a token that was got elsewhere. */
export interface PartnerCredentials {
  readonly partnerId: string
  readonly companyId: string
  readonly cardAccountId: string
  readonly userId?: string
  readonly clientId?: string
  readonly clientSecret?: string
  readonly accessToken?: string
  /** Session cookie that belongs to `accessToken`, as `name=value`; several with `; ` between them. */
  readonly cookie?: string
  readonly sharedKey?: SharedKey
}

export type MerchantName = 'merchant' | 'otherMerchant'
export type PartnerName = 'incentivePartner' | 'rewardsPartner' | 'otherPartner'

/** The credentials file: the shape of `sandbox.json`, everything optional. What is missing skips its checks. */
export type Credentials = Readonly<
  Partial<Record<MerchantName, MerchantCredentials> & Record<PartnerName, PartnerCredentials>>
> & {
  readonly coinConfigId?: string
  /** Codes of `merchant` that the run may cancel, where the server does not create codes by API. */
  readonly disposableQrCodeIds?: readonly string[]
}

/** Whether no tenant is named, so that nearly nothing can be checked. */
export const isAnonymous = (credentials: Credentials): boolean =>
  (Object.keys(SHAPES) as (MerchantName | PartnerName)[]).every((who) => credentials[who] === undefined)

interface Shape {
  readonly required: readonly string[]
  readonly optional: readonly string[]
}

const MERCHANT: Shape = { required: ['apiKey'], optional: ['accessKey'] }
const PARTNER: Shape = {
  required: ['partnerId', 'companyId', 'cardAccountId'],
  optional: ['userId', 'clientId', 'clientSecret', 'accessToken', 'cookie'],
}
const SHARED_KEY: Shape = { required: ['kid', 'alg', 'enc', 'k'], optional: ['kty'] }
const SHAPES: Record<MerchantName | PartnerName, Shape> = {
  merchant: MERCHANT,
  otherMerchant: MERCHANT,
  incentivePartner: PARTNER,
  rewardsPartner: PARTNER,
  otherPartner: PARTNER,
}

/** Reads the file's text. Throws an Error that names everything that is wrong, and never a value. */
export function readCredentials(text: string): Credentials {
  let file: unknown
  try {
    file = JSON.parse(text)
  } catch {
    throw new Error('it is not JSON')
  }
  if (!isObject(file)) throw new Error('it must hold a JSON object, such as sandbox.json')
  const problems: string[] = []
  for (const [name, shape] of Object.entries(SHAPES)) {
    const holder = file[name]
    if (holder === undefined) continue
    problems.push(...problemsOf(name, holder, shape))
    if (!isObject(holder) || shape !== PARTNER) continue
    if (holder['sharedKey'] !== undefined)
      problems.push(...problemsOf(`${name}.sharedKey`, holder['sharedKey'], SHARED_KEY))
    if (holder['accessToken'] === undefined && (!holder['clientId'] || !holder['clientSecret']))
      problems.push(`${name}: clientId and clientSecret, or accessToken, is required`)
  }
  if (file['coinConfigId'] !== undefined && typeof file['coinConfigId'] !== 'string')
    problems.push('coinConfigId: must be a string')
  const codes = file['disposableQrCodeIds']
  if (codes !== undefined && !(Array.isArray(codes) && codes.every((id) => typeof id === 'string')))
    problems.push('disposableQrCodeIds: must be an array of strings')
  if (problems.length > 0) throw new Error(problems.join('; '))
  return file as Credentials
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

function problemsOf(place: string, holder: unknown, { required, optional }: Shape): string[] {
  if (!isObject(holder)) return [`${place}: must be an object`]
  return [
    ...required.filter((name) => holder[name] === undefined).map((name) => `${place}.${name}: is required`),
    ...[...required, ...optional]
      .filter((name) => holder[name] !== undefined && (typeof holder[name] !== 'string' || !holder[name]))
      .map((name) => `${place}.${name}: must be a string with something in it`),
  ]
}
