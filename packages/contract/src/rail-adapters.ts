/** Where a bank's notice has what the service needs: a path of names into its JSON, separated by full stops. */
export interface NoticeFields {
  readonly utr: string
  readonly amount: string
  /** Of the amount, and of what the notice reports: beside the amount unless the adapter says where. */
  readonly currency?: string | undefined
  readonly status?: string | undefined
  readonly tr?: string | undefined
  readonly payerVpa?: string | undefined
  readonly payeeVpa?: string | undefined
  readonly transactionTime?: string | undefined
  /** Of transfers to card accounts. */
  readonly virtualAccount?: string | undefined
  readonly remitterName?: string | undefined
  readonly remitterAccount?: string | undefined
  readonly mode?: string | undefined
}

/** How one bank or payment service writes and signs its notices. */
export interface RailAdapter {
  readonly fields: NoticeFields
  readonly amountUnit: 'rupees' | 'paise'
  readonly time: 'rfc3339' | 'unix' | 'yyyyMMddHHmmss'
  /** Of times without a zone, such as `+05:30`. */
  readonly utcOffset: string | undefined
  /** What a notice must say to report a credit; any other goes to quarantine. */
  readonly only: { readonly field: string; readonly equals: string } | undefined
  /** HMAC-SHA-256 under a key of the rail: over time and body, or over the body alone in hex or base64. */
  readonly signature: {
    readonly header: string
    readonly scheme: 'time-and-body' | 'body-hex' | 'body-base64'
  }
}

/** Our own notices. */
export const OWN_ADAPTER: RailAdapter = {
  fields: {
    utr: 'utr',
    amount: 'amount',
    currency: 'currency',
    status: 'status',
    tr: 'tr',
    payerVpa: 'payerVpa',
    payeeVpa: 'payeeVpa',
    transactionTime: 'transactionTime',
    virtualAccount: 'virtualAccount',
    remitterName: 'remitterName',
    remitterAccount: 'remitterAccount',
    mode: 'mode',
  },
  amountUnit: 'rupees',
  time: 'rfc3339',
  utcOffset: undefined,
  only: undefined,
  signature: { header: 'x-rail-signature', scheme: 'time-and-body' },
}

type Fields = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function oneOf<const T extends string>(choices: readonly T[], value: unknown): T | undefined {
  return choices.find((choice) => choice === value)
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

function readFields(value: unknown): NoticeFields | undefined {
  if (!isObject(value) || !isText(value['utr']) || !isText(value['amount'])) return undefined
  const known = Object.keys(OWN_ADAPTER.fields)
  const isRight = Object.entries(value).every(([name, path]) => known.includes(name) && isText(path))
  return isRight ? (value as unknown as NoticeFields) : undefined
}

function readAdapter(value: unknown): RailAdapter | undefined {
  if (!isObject(value)) return undefined
  const { amountUnit = 'rupees', time = 'rfc3339', utcOffset = '+05:30', only, signature } = value
  const fields = readFields(value['fields'])
  const unit = oneOf(['rupees', 'paise'], amountUnit)
  const format = oneOf(['rfc3339', 'unix', 'yyyyMMddHHmmss'], time)
  if (!fields || !unit || !format || !isText(utcOffset) || !/^[+-]\d\d:\d\d$/.test(utcOffset))
    return undefined
  if (!isObject(signature) || !isText(signature['header'])) return undefined
  const scheme = oneOf(['time-and-body', 'body-hex', 'body-base64'], signature['scheme'])
  if (!scheme) return undefined
  if (only !== undefined && !(isObject(only) && isText(only['field']) && isText(only['equals'])))
    return undefined
  return {
    fields,
    amountUnit: unit,
    time: format,
    utcOffset,
    only: only as RailAdapter['only'],
    signature: { header: signature['header'].toLowerCase(), scheme },
  }
}

/** Reads the table of banks: a JSON object of adapters by name. `undefined` when it is none. */
export function readRailAdapters(text: string): ReadonlyMap<string, RailAdapter> | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!isObject(value)) return undefined
  const adapters = new Map<string, RailAdapter>()
  for (const [bank, entry] of Object.entries(value)) {
    const adapter = readAdapter(entry)
    if (!adapter || !/^[a-z0-9-]{1,32}$/.test(bank)) return undefined
    adapters.set(bank, adapter)
  }
  return adapters
}
