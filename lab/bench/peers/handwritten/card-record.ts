import type pg from 'pg'
import { rupees, textTimestamp } from './values.ts'

/** A card with its account, company, balance and usage. Amounts in paise. */
export interface CardRow extends pg.QueryResultRow {
  readonly svc_card_id: string
  readonly user_id: string
  readonly company_id: string
  readonly card_account_id: string
  readonly masked_number: string
  readonly token: string
  readonly expiry_month: number
  readonly expiry_year: number
  readonly status: keyof typeof STATUS_LABELS
  readonly kyc_status: string
  readonly physical: boolean
  readonly activated: boolean
  readonly holder: Readonly<Record<string, string>>
  readonly physical_requested_at: Date | null
  readonly load_paise: bigint
  readonly load_transfer_id: string
  readonly pos_allowed: boolean
  readonly pos_allowed_admin: boolean
  readonly atm_allowed: boolean
  readonly atm_allowed_admin: boolean
  readonly online_allowed: boolean
  readonly online_allowed_admin: boolean
  readonly block_code: string
  readonly remarks: string
  readonly created_at: Date
  readonly modified_at: Date
  readonly company_name: string
  readonly account_type: keyof typeof ACCOUNT_TYPES
  readonly bin_type: string
  readonly programme: string
  readonly balance: bigint
  readonly held: bigint
  readonly spent_day: bigint
  readonly spent_month: bigint
  readonly spent_year: bigint
  readonly spent: bigint
}

const ACCOUNT_TYPES = {
  RELOADABLE_GPR: { label: 'Reloadable', description: 'General-purpose reloadable card' },
  GIFT: { label: 'Gift', description: 'Gift card, loaded once' },
  MEAL: { label: 'Meal', description: 'Meal card' },
  FUEL: { label: 'Fuel', description: 'Fuel card' },
  VIRTUAL_ACCOUNT: { label: 'Virtual Account', description: 'Virtual account' },
  EMPLOYEE_REWARDS: { label: 'Employee Rewards', description: 'Rewards of employees' },
} as const

const STATUS_LABELS = { L: 'Locked', UL: 'UnLocked', BL: 'Blocked', AP: 'Activation InProgress' } as const

const titleCase = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\b[a-z]/g, (letter) => letter.toUpperCase())
const kycLabel = (name: string): string =>
  titleCase(name).replace(/\b(?:Kyc|Ckyc|Osv)\b/g, (word) => word.toUpperCase())

const DELIVERY = [
  'deliveryAddress',
  'deliveryAddress2',
  'deliveryCity',
  'deliveryState',
  'deliveryCountry',
  'deliveryPincode',
] as const

function holderFields({ holder }: CardRow) {
  return {
    email: holder['email'] ?? '',
    mobile: holder['mobile'] ?? '',
    title: holder['title'] ?? '',
    firstName: holder['firstName'] ?? '',
    lastName: holder['lastName'] ?? '',
    gender: holder['gender'] ?? '',
    specialDate: holder['specialDate'] ?? '',
    address: holder['address'] ?? '',
    address2: holder['address2'] ?? '',
    city: holder['city'] ?? '',
    state: holder['state'] ?? '',
    country: holder['country'] ?? '',
    pincode: holder['pincode'] ?? '',
    deliveryAddress: holder['deliveryAddress'] ?? '',
    deliveryAddress2: holder['deliveryAddress2'] ?? '',
    deliveryCity: holder['deliveryCity'] ?? '',
    deliveryState: holder['deliveryState'] ?? '',
    deliveryCountry: holder['deliveryCountry'] ?? '',
    deliveryPincode: holder['deliveryPincode'] ?? '',
    pan: holder['pan'] ?? '',
  }
}

const openToBuy = ({ balance, held }: CardRow): bigint => (held > balance ? 0n : balance - held)
/** Rounded down when a payment left paise. */
const wholeRupees = (paise: bigint): number => Number(paise / 100n)
const atLeastZero = (paise: bigint): number => (paise > 0n ? rupees(paise) : 0)

function moneyFields(card: CardRow) {
  return {
    otbBalance: wholeRupees(openToBuy(card)),
    accountBalance: wholeRupees(card.balance),
    loadAmount: String(wholeRupees(card.load_paise)),
    lastAllocatedAmount: wholeRupees(card.load_paise),
    svcCardTxnId: card.load_transfer_id,
    usedMtd: atLeastZero(card.spent_month),
    usedDtd: atLeastZero(card.spent_day),
    usedYtd: atLeastZero(card.spent_year),
    usedLtd: atLeastZero(card.spent),
    limitAllocatedLtd: rupees(card.load_paise),
    surchargeAmt: 0,
    holdBalance: rupees(card.held),
    unAllocateHoldBalance: 0,
  }
}

function statusFields(card: CardRow) {
  const { physical_requested_at: requestedAt } = card
  return {
    primaryCard: true,
    prepaidCard: true,
    physicalCard: card.physical,
    cardStatus: { name: card.status, label: STATUS_LABELS[card.status] },
    kycStatus: { name: card.kyc_status, label: kycLabel(card.kyc_status) },
    physicalCardRequestDate: requestedAt ? textTimestamp(requestedAt) : '',
    physicalDeliveryAddressFlag: DELIVERY.some((name) => card.holder[name]),
    cardActivated: card.activated,
    deleted: false,
  }
}

function flagFields(card: CardRow) {
  return {
    physicalCardAllowed: true,
    panValidated: false,
    posAllowed: card.pos_allowed,
    posAllowedAdmin: card.pos_allowed_admin,
    atmAllowed: card.atm_allowed,
    atmAllowedAdmin: card.atm_allowed_admin,
    onlineAllowed: card.online_allowed,
    onlineAllowedAdmin: card.online_allowed_admin,
    unallocateFundAllowed: false,
    tncUnAllocateAllowed: false,
    tncUnAllocateAccepted: false,
    closedLoopCard: false,
    useAccountFunds: false,
    useParentFundAllowed: false,
  }
}

/** What other systems would know. */
const UNKNOWN = {
  liveImage: false,
  cKycEnabled: false,
  minKycOtpVerified: false,
  vKycAllowed: false,
  latestTnCVersionAccepted: false,
  latestKeyFactAccepted: false,
  latestTnCVersionAcceptedForPrimaryCard: false,
  latestKeyFactAcceptedCardForPrimaryCard: false,
  partnerLogo: '',
  extEntityId: '',
  switchProvider: '',
  tncVersionMasterId: '',
  tncUrl: '',
  virtualAccountNumber: '',
  defaultCardImage: '',
  svcSupportEmail: '',
  svcSupportMobile: '',
  cardKitMasterId: 0,
}

/** Section 2.4, the record of the creation. */
export const toCardRecord = (card: CardRow) => ({
  svcCardId: card.svc_card_id,
  userId: card.user_id,
  cardAccountId: card.card_account_id,
  maskedNumber: card.masked_number,
  expiryMonth: String(card.expiry_month).padStart(2, '0'),
  expiryYear: String(card.expiry_year),
  ...holderFields(card),
  ...statusFields(card),
  ...moneyFields(card),
  ...flagFields(card),
  companyId: card.company_id,
  companyName: card.company_name,
  accountType: { name: card.account_type, ...ACCOUNT_TYPES[card.account_type] },
  binType: { name: card.bin_type, label: titleCase(card.bin_type) },
  kitType: card.physical ? { name: 'PHYSICAL', label: 'Physical' } : { name: 'VIRTUAL', label: 'Virtual' },
  cardProgramme: card.programme,
  token: card.token,
  blockCode: card.block_code,
  remarks: card.remarks,
  createdOn: textTimestamp(card.created_at),
  modifiedOn: textTimestamp(card.modified_at),
  ...UNKNOWN,
})

/** Section 2.4 with the fields of the incentive search. */
export const toIncentiveRecord = (card: CardRow) => ({
  ...toCardRecord(card),
  middleName: card.holder['middleName'] ?? '',
  primarySvcCardId: card.svc_card_id,
  primarySvcCardUserId: card.user_id,
  enableHoldAmount: false,
  minTransactionAmount: 0,
  totalRewardsReceived: rupees(card.load_paise),
  rewardPointsReceived: 0,
})

type ReducedRow = Pick<
  CardRow,
  'svc_card_id' | 'user_id' | 'card_account_id' | 'expiry_month' | 'expiry_year' | 'holder' | 'company_id'
>

/** Section 2.5. */
export const toReducedRecord = (card: ReducedRow & Pick<CardRow, 'balance' | 'held'>) => ({
  svcCardId: card.svc_card_id,
  userId: card.user_id,
  cardAccountId: card.card_account_id,
  expiryMonth: String(card.expiry_month).padStart(2, '0'),
  expiryYear: String(card.expiry_year),
  email: card.holder['email'] ?? '',
  mobile: card.holder['mobile'] ?? '',
  title: card.holder['title'] ?? '',
  firstName: card.holder['firstName'] ?? '',
  lastName: card.holder['lastName'] ?? '',
  otbBalance: rupees(openToBuy(card as CardRow)),
  companyId: card.company_id,
})
