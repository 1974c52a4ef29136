import type { HttpResponse } from '../exchange.ts'
import {
  at,
  fail,
  isKind,
  type Kind,
  kindOf,
  problemOf,
  show,
  TEXT_TIME,
  wantKind,
  wantOneOf,
  wantText,
  wantValue,
} from '../expect.ts'
import { cardNumbersIn } from '../redact.ts'
import { block } from '../verdict.ts'

/** A field of the card record, as the tables of spec §2.4 have it. */
export interface CardField {
  readonly name: string
  readonly kind: Kind
  readonly words: string
  /** Another type that the specification shows for it. */
  readonly or?: Kind
  /** What the specification says beside the type; `path` leads to the field. */
  readonly look?: Look
  /** The decision about it. */
  readonly form?: Look
}
type Look = (response: HttpResponse, path: string) => void

const field = (name: string, kind: Kind, words: string, more: Partial<CardField> = {}): CardField => ({
  name,
  kind,
  words,
  ...more,
})
const all = (kind: Kind, words: string, ...names: string[]): CardField[] =>
  names.map((name) => field(name, kind, words))

export const CARD_STATUSES: Readonly<Record<string, string>> = {
  L: 'Locked',
  UL: 'UnLocked',
  BL: 'Blocked',
  AP: 'Activation InProgress',
}
const KYC_STATUSES =
  'VERIFIED PENDING FAILED UPLOADED CKYC_IN_PROGRESS CKYC_PENDING LIVENESS_PENDING NOT_UPLOADED OSV_VERIFIED PAPER_KYC_PENDING MIN_KYC_VERIFIED KYC_NOT_ALLOWED DRAFTED CREATED'.split(
    ' ',
  )
const ACCOUNT_TYPES = ['RELOADABLE_GPR', 'GIFT', 'MEAL', 'FUEL', 'VIRTUAL_ACCOUNT', 'EMPLOYEE_REWARDS']
/** At most the first six or eight and the last four digits show. */
const MASKED = /^(?:\d{4}[ -]?\d{0,2}|\d{6,8})?[ -]?[xX*•.]{4}[xX*•. -]*\d{4}$/

const filled = (response: HttpResponse, path: string) => void wantText(response, path)
const matching = (pattern: RegExp, words: string) => (response: HttpResponse, path: string) => {
  const value = String(at(response, path))
  if (!pattern.test(value)) fail(response, `${path}: ${words}`, show(value))
}
const labelled = (names: readonly string[], ...more: string[]): Partial<CardField> => ({
  look: (response, path) => {
    wantOneOf(response, `${path}.name`, [...names])
    for (const name of ['label', ...more]) wantKind(response, `${path}.${name}`, 'string')
  },
  form: (response, path) => ['label', ...more].forEach((name) => wantText(response, `${path}.${name}`)),
})
const loadAmount: Look = (response, path) => {
  wantKind(response, path, 'string')
  matching(/^\d+(?:\.\d{1,2})?$/, 'an amount')(response, path)
}
const masked: Look = (response, path) => {
  if (cardNumbersIn(String(at(response, path))).length > 0)
    fail(response, `${path}: a masked number`, 'a whole card number')
}

/** Spec §2.4, the first table: all of them are required in the creation response. */
export const CARD_FIELDS: readonly CardField[] = [
  ...['svcCardId', 'userId', 'cardAccountId'].map((name) => field(name, 'string', 'an id', { look: filled })),
  field('maskedNumber', 'string', 'the card number, masked', {
    look: masked,
    form: matching(MASKED, 'a masked number with four last digits'),
  }),
  field('expiryMonth', 'string', 'text', { form: matching(/^(?:0?[1-9]|1[0-2])$/, 'a month, 01 to 12') }),
  field('expiryYear', 'string', 'text', { form: matching(/^(?:20)?\d\d$/, 'a year') }),
  ...all('string', 'text', 'email', 'mobile', 'title', 'firstName', 'lastName', 'gender', 'specialDate'),
  ...all('string', 'text', 'address', 'address2', 'city', 'state', 'country', 'pincode'),
  field('otbBalance', 'integer', 'an integer'),
  ...all('boolean', 'a boolean', 'primaryCard', 'prepaidCard', 'physicalCard'),
  field('cardStatus', 'object', 'a name and label of §3.2', {
    look: (response, path) => {
      wantOneOf(response, `${path}.name`, Object.keys(CARD_STATUSES))
      wantValue(response, `${path}.label`, CARD_STATUSES[String(at(response, `${path}.name`))]!)
    },
  }),
  field('kycStatus', 'object', 'a name of §3.3 and its label', labelled(KYC_STATUSES)),
  field('pan', 'string', 'text'),
  field('physicalCardRequestDate', 'string', 'text'),
  field('physicalDeliveryAddressFlag', 'boolean', 'a boolean'),
  ...all('string', 'text', 'deliveryAddress', 'deliveryAddress2', 'deliveryCity', 'deliveryState'),
  ...all('string', 'text', 'deliveryCountry', 'deliveryPincode'),
  field('cardActivated', 'boolean', 'a boolean'),
  field('companyId', 'string', 'an id', { look: filled }),
  // §2.4: "the sample payload carries a number".
  field('loadAmount', 'string', 'text or a number', { or: 'number', form: loadAmount }),
  field('accountBalance', 'integer', 'an integer'),
  ...all('boolean', 'a boolean', 'physicalCardAllowed', 'panValidated', 'posAllowed', 'posAllowedAdmin'),
  ...all('boolean', 'a boolean', 'atmAllowed', 'atmAllowedAdmin', 'onlineAllowed', 'onlineAllowedAdmin'),
  field('unallocateFundAllowed', 'boolean', 'a boolean'),
  field('companyName', 'string', 'the company’s legal name', { form: filled }),
  field(
    'accountType',
    'object',
    'a known name, its label and description',
    labelled(ACCOUNT_TYPES, 'description'),
  ),
  field('lastAllocatedAmount', 'integer', 'an integer'),
  field('svcCardTxnId', 'string', 'a unique transaction id', { look: filled }),
]

const textTime = { look: matching(TEXT_TIME, 'Mon D, YYYY h:mm:ss AM/PM') }
const named: Partial<CardField> = {
  look: (response, path) =>
    ['name', 'label'].forEach((name) => wantKind(response, `${path}.${name}`, 'string')),
  form: (response, path) => ['name', 'label'].forEach((name) => wantText(response, `${path}.${name}`)),
}

/** Spec §2.4, further fields of the creation response: their types, not that they are required. */
export const FURTHER_FIELDS: readonly CardField[] = [
  field('token', 'string', 'text'),
  ...all(
    'number',
    'a number',
    'usedMtd',
    'usedDtd',
    'usedYtd',
    'usedLtd',
    'limitAllocatedLtd',
    'surchargeAmt',
  ),
  ...all('number', 'a number', 'holdBalance', 'unAllocateHoldBalance'),
  ...all('boolean', 'a boolean', 'deleted', 'closedLoopCard', 'useAccountFunds', 'liveImage', 'cKycEnabled'),
  ...all('boolean', 'a boolean', 'useParentFundAllowed', 'minKycOtpVerified', 'vKycAllowed'),
  ...all('boolean', 'a boolean', 'latestTnCVersionAccepted', 'latestKeyFactAccepted'),
  ...all('boolean', 'a boolean', 'latestTnCVersionAcceptedForPrimaryCard'),
  ...all('boolean', 'a boolean', 'latestKeyFactAcceptedCardForPrimaryCard'),
  ...all('boolean', 'a boolean', 'tncUnAllocateAllowed', 'tncUnAllocateAccepted'),
  field('createdOn', 'string', 'a time, Mon D, YYYY h:mm:ss AM/PM', textTime),
  field('modifiedOn', 'string', 'a time, Mon D, YYYY h:mm:ss AM/PM', textTime),
  ...all('string', 'text', 'cardProgramme', 'blockCode', 'remarks', 'partnerLogo', 'extEntityId'),
  ...all('string', 'text', 'switchProvider', 'tncVersionMasterId', 'tncUrl', 'virtualAccountNumber'),
  ...all('string', 'text', 'defaultCardImage', 'svcSupportEmail', 'svcSupportMobile'),
  field('cardKitMasterId', 'integer', 'an integer'),
  field('binType', 'object', 'a name and a label', named),
  field('kitType', 'object', 'a name and a label', named),
]

/** Spec §2.4, further fields of the incentive card search: not required either. */
export const INCENTIVE_FIELDS: readonly CardField[] = [
  field('middleName', 'string', 'text'),
  field('primarySvcCardId', 'string', 'an id'),
  field('primarySvcCardUserId', 'string', 'an id'),
  field('enableHoldAmount', 'boolean', 'a boolean'),
  ...all('number', 'a number', 'minTransactionAmount', 'totalRewardsReceived', 'rewardPointsReceived'),
]

/** Spec §2.5: these twelve. */
export const REDUCED_FIELDS: readonly CardField[] = [
  ...['svcCardId', 'userId', 'cardAccountId'].map((name) => field(name, 'string', 'an id', { look: filled })),
  ...all('string', 'text', 'expiryMonth', 'expiryYear', 'email', 'mobile', 'title', 'firstName', 'lastName'),
  field('otbBalance', 'number', 'a number'),
  field('companyId', 'string', 'an id', { look: filled }),
]

export const namesOf = (fields: readonly CardField[]): readonly string[] => fields.map(({ name }) => name)

/** The field is there, of its type and with what else its row says. */
export function wantCardField(
  response: HttpResponse,
  path: string,
  { kind, or = kind, look }: CardField,
): void {
  const value = at(response, path)
  if (!isKind(value, kind) && !isKind(value, or))
    fail(
      response,
      `${path}: ${kind}`,
      value === undefined ? 'no such field' : `${kindOf(value)} ${show(value)}`,
      problemOf(path, value),
    )
  look?.(response, path)
}

/** The same of a field that may be left out of its record; where there is no record, nothing is said of the field. */
export function wantFurtherField(response: HttpResponse, path: string, row: CardField): void {
  const record = path.slice(0, path.lastIndexOf('.'))
  if (!isKind(at(response, record), 'object'))
    block(response, record, `needs a card record: the status is ${response.status}`)
  if (at(response, path) !== undefined) wantCardField(response, path, row)
}

/** Decisions C8, C11: how the texts of the record look. */
export function wantForms(response: HttpResponse, path: string, rows: readonly CardField[]): void {
  for (const { name, form } of rows) form?.(response, `${path}.${name}`)
}

/** Decision C12: a field without a value is empty. */
export function wantNoNull(response: HttpResponse, value: unknown, path: string): void {
  if (value === null) fail(response, `${path}: a value, empty if there is none`, 'null')
  if (typeof value === 'object')
    for (const [name, inner] of Object.entries(value as object))
      wantNoNull(response, inner, `${path}.${name}`)
}
