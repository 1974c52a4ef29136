/** A JSON value that nothing is known of yet. */
export type Json = unknown
export type JsonObject = Readonly<Record<string, Json>>

export const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Rule = (value: Json) => boolean

const isText: Rule = (value) => typeof value === 'string'
const isFlag: Rule = (value) => typeof value === 'boolean'
const isNumber: Rule = (value) => typeof value === 'number'
const isInteger: Rule = (value) => Number.isInteger(value)
const isNamed: Rule = (value) => isObject(value) && isText(value['name']) && isText(value['label'])
const isOneOf =
  (names: readonly string[]): Rule =>
  (value) =>
    isObject(value) && names.includes(String(value['name'])) && isText(value['label'])

const CARD_STATUSES = ['L', 'UL', 'BL', 'AP']
const KYC_STATUSES =
  'VERIFIED PENDING FAILED UPLOADED CKYC_IN_PROGRESS CKYC_PENDING LIVENESS_PENDING NOT_UPLOADED OSV_VERIFIED PAPER_KYC_PENDING MIN_KYC_VERIFIED KYC_NOT_ALLOWED DRAFTED CREATED'.split(
    ' ',
  )
const ACCOUNT_TYPES = ['RELOADABLE_GPR', 'GIFT', 'MEAL', 'FUEL', 'VIRTUAL_ACCOUNT', 'EMPLOYEE_REWARDS']
/** `Mon D, YYYY h:mm:ss AM/PM` */
const CARD_TIME = /^[A-Z][a-z]{2} \d{1,2}, \d{4} \d{1,2}:\d{2}:\d{2} [AP]M$/

const all = (names: string, rule: Rule): Record<string, Rule> =>
  Object.fromEntries(names.split(' ').map((name) => [name, rule]))

/** Section 2.4: the fields that a created card must have. */
export const CARD: Readonly<Record<string, Rule>> = {
  ...all(
    'svcCardId userId cardAccountId maskedNumber expiryMonth expiryYear email mobile title firstName lastName gender specialDate address address2 city state country pincode pan physicalCardRequestDate deliveryAddress deliveryAddress2 deliveryCity deliveryState deliveryCountry deliveryPincode companyId loadAmount companyName svcCardTxnId',
    isText,
  ),
  ...all(
    'primaryCard prepaidCard physicalCard physicalDeliveryAddressFlag cardActivated physicalCardAllowed panValidated posAllowed posAllowedAdmin atmAllowed atmAllowedAdmin onlineAllowed onlineAllowedAdmin unallocateFundAllowed',
    isFlag,
  ),
  ...all('otbBalance accountBalance lastAllocatedAmount', isInteger),
  cardStatus: isOneOf(CARD_STATUSES),
  kycStatus: isOneOf(KYC_STATUSES),
  accountType: (value) =>
    isOneOf(ACCOUNT_TYPES)(value) && isObject(value) && typeof value['description'] === 'string',
}

/** Section 2.4: further fields; each may be absent, and has its type where it is there. */
export const FURTHER_OF_CARD: Readonly<Record<string, Rule>> = {
  ...all(
    'token cardProgramme blockCode remarks partnerLogo extEntityId switchProvider tncVersionMasterId tncUrl virtualAccountNumber defaultCardImage svcSupportEmail svcSupportMobile middleName primarySvcCardId primarySvcCardUserId',
    isText,
  ),
  ...all(
    'usedMtd usedDtd usedYtd usedLtd limitAllocatedLtd surchargeAmt holdBalance unAllocateHoldBalance minTransactionAmount totalRewardsReceived rewardPointsReceived',
    isNumber,
  ),
  ...all(
    'deleted closedLoopCard useAccountFunds liveImage cKycEnabled useParentFundAllowed minKycOtpVerified vKycAllowed latestTnCVersionAccepted latestKeyFactAccepted latestTnCVersionAcceptedForPrimaryCard latestKeyFactAcceptedCardForPrimaryCard tncUnAllocateAllowed tncUnAllocateAccepted enableHoldAmount',
    isFlag,
  ),
  ...all('createdOn modifiedOn', (value) => typeof value === 'string' && CARD_TIME.test(value)),
  cardKitMasterId: isInteger,
  binType: isNamed,
  kitType: isNamed,
}

/** Section 2.5: the twelve fields of the reduced record. */
export const REDUCED_CARD: Readonly<Record<string, Rule>> = {
  ...all(
    'svcCardId userId cardAccountId expiryMonth expiryYear email mobile title firstName lastName companyId',
    isText,
  ),
  otbBalance: isNumber,
}

/** Section 2.3: all fields of a QR code are optional. */
export const QR_CODE: Readonly<Record<string, Rule>> = {
  ...all(
    'qrCodeId qrName description expiry qrCodeBase64 createdOn modifiedOn customerName customerEmail customerMobile customerId referenceNumber',
    isText,
  ),
  ...all('multipleUse fixedAmount', isFlag),
  amount: isNumber,
  customParams: (value) => isObject(value) && Object.values(value).every(isText),
  status: (value) => value === 'ACTIVE' || value === 'CANCELLED',
}

/** What is missing of a record, or has another type than the specification says. */
export const problemsOf = (
  record: JsonObject,
  required: Readonly<Record<string, Rule>>,
  optional: Readonly<Record<string, Rule>> = {},
): string[] => [
  ...Object.entries(required).flatMap(([name, rule]) =>
    rule(record[name]) ? [] : [`${name}: ${JSON.stringify(record[name])}`],
  ),
  ...Object.entries(optional).flatMap(([name, rule]) =>
    !(name in record) || rule(record[name]) ? [] : [`${name}: ${JSON.stringify(record[name])}`],
  ),
]
