import type { Answer } from '../exchange.ts'
import {
  at,
  fail,
  isKind,
  type Kind,
  kindOf,
  show,
  WORDY_TIME,
  wantOneOf,
  wantText,
  wantValue,
} from '../expect.ts'

/** A field of the card record, as the tables of spec §2.4 have it. */
export interface CardField {
  readonly name: string
  readonly kind: Kind
  readonly words: string
  /** What the type alone does not say; `path` leads to the field. */
  readonly look?: (answer: Answer, path: string) => void
}

const field = (name: string, kind: Kind, words: string, look?: CardField['look']): CardField => ({
  name,
  kind,
  words,
  ...(look && { look }),
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

const filled = (answer: Answer, path: string) => void wantText(answer, path)
const matching = (pattern: RegExp, words: string) => (answer: Answer, path: string) => {
  const value = String(at(answer, path))
  if (!pattern.test(value)) fail(answer, `${path}: ${words}`, show(value))
}
const labelled =
  (names: readonly string[], ...more: string[]) =>
  (answer: Answer, path: string) => {
    wantOneOf(answer, `${path}.name`, [...names])
    for (const name of ['label', ...more]) wantText(answer, `${path}.${name}`)
  }

/** Spec §2.4, the first table: all of them are required in the creation response. */
export const CARD_FIELDS: readonly CardField[] = [
  ...['svcCardId', 'userId', 'cardAccountId'].map((name) => field(name, 'string', 'an id', filled)),
  field(
    'maskedNumber',
    'string',
    'the card number, masked',
    matching(MASKED, 'a masked number with four last digits'),
  ),
  field('expiryMonth', 'string', 'text', matching(/^(?:0?[1-9]|1[0-2])$/, 'a month, 01 to 12')),
  field('expiryYear', 'string', 'text', matching(/^(?:20)?\d\d$/, 'a year')),
  ...all('string', 'text', 'email', 'mobile', 'title', 'firstName', 'lastName', 'gender', 'specialDate'),
  ...all('string', 'text', 'address', 'address2', 'city', 'state', 'country', 'pincode'),
  field('otbBalance', 'integer', 'an integer'),
  ...all('boolean', 'a boolean', 'primaryCard', 'prepaidCard', 'physicalCard'),
  field('cardStatus', 'object', 'a name and label of §3.2', (answer, path) => {
    wantOneOf(answer, `${path}.name`, Object.keys(CARD_STATUSES))
    wantValue(answer, `${path}.label`, CARD_STATUSES[String(at(answer, `${path}.name`))]!)
  }),
  field('kycStatus', 'object', 'a name of §3.3 and its label', labelled(KYC_STATUSES)),
  field('pan', 'string', 'text'),
  field('physicalCardRequestDate', 'string', 'text'),
  field('physicalDeliveryAddressFlag', 'boolean', 'a boolean'),
  ...all('string', 'text', 'deliveryAddress', 'deliveryAddress2', 'deliveryCity', 'deliveryState'),
  ...all('string', 'text', 'deliveryCountry', 'deliveryPincode'),
  field('cardActivated', 'boolean', 'a boolean'),
  field('companyId', 'string', 'an id', filled),
  field('loadAmount', 'string', 'text', matching(/^\d+(?:\.\d{1,2})?$/, 'an amount')),
  field('accountBalance', 'integer', 'an integer'),
  ...all('boolean', 'a boolean', 'physicalCardAllowed', 'panValidated', 'posAllowed', 'posAllowedAdmin'),
  ...all('boolean', 'a boolean', 'atmAllowed', 'atmAllowedAdmin', 'onlineAllowed', 'onlineAllowedAdmin'),
  field('unallocateFundAllowed', 'boolean', 'a boolean'),
  field('companyName', 'string', 'the company’s legal name', filled),
  field(
    'accountType',
    'object',
    'a known name, its label and description',
    labelled(ACCOUNT_TYPES, 'description'),
  ),
  field('lastAllocatedAmount', 'integer', 'an integer'),
  field('svcCardTxnId', 'string', 'a unique transaction id', filled),
]

const wordy = matching(WORDY_TIME, 'Mon D, YYYY h:mm:ss AM/PM')
const named = (answer: Answer, path: string) => {
  for (const name of ['name', 'label']) wantText(answer, `${path}.${name}`)
}

/** Spec §2.4, further fields of the creation response. */
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
  field('createdOn', 'string', 'a time, Mon D, YYYY h:mm:ss AM/PM', wordy),
  field('modifiedOn', 'string', 'a time, Mon D, YYYY h:mm:ss AM/PM', wordy),
  ...all('string', 'text', 'cardProgramme', 'blockCode', 'remarks', 'partnerLogo', 'extEntityId'),
  ...all('string', 'text', 'switchProvider', 'tncVersionMasterId', 'tncUrl', 'virtualAccountNumber'),
  ...all('string', 'text', 'defaultCardImage', 'svcSupportEmail', 'svcSupportMobile'),
  field('cardKitMasterId', 'integer', 'an integer'),
  field('binType', 'object', 'a name and a label', named),
  field('kitType', 'object', 'a name and a label', named),
]

/** Spec §2.4, further fields of the incentive card search. */
export const INCENTIVE_FIELDS: readonly CardField[] = [
  field('middleName', 'string', 'text'),
  field('primarySvcCardId', 'string', 'an id'),
  field('primarySvcCardUserId', 'string', 'an id'),
  field('enableHoldAmount', 'boolean', 'a boolean'),
  ...all('number', 'a number', 'minTransactionAmount', 'totalRewardsReceived', 'rewardPointsReceived'),
]

/** Spec §2.5: exactly these twelve. */
export const REDUCED_FIELDS: readonly CardField[] = [
  ...['svcCardId', 'userId', 'cardAccountId'].map((name) => field(name, 'string', 'an id', filled)),
  ...all('string', 'text', 'expiryMonth', 'expiryYear', 'email', 'mobile', 'title', 'firstName', 'lastName'),
  field('otbBalance', 'number', 'a number'),
  field('companyId', 'string', 'an id', filled),
]

export const namesOf = (fields: readonly CardField[]): readonly string[] => fields.map(({ name }) => name)

/** The field is there, of its type and with what else its row says. */
export function wantCardField(answer: Answer, path: string, { kind, look }: CardField): void {
  const value = at(answer, path)
  if (!isKind(value, kind))
    fail(
      answer,
      `${path}: ${kind}`,
      value === undefined ? 'no such field' : `${kindOf(value)} ${show(value)}`,
    )
  look?.(answer, path)
}
