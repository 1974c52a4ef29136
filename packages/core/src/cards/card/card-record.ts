import type { Config } from '@svc/contract/config'
import { paiseToWire } from '@svc/kernel/money'
import { textTimestamp } from '@svc/kernel/time'
import { type TSchema, Type } from 'typebox'
import { ACCOUNT_TYPES, type CardAccount } from '../account/card-account.ts'
import { type RecordSettings, settingsInForce } from '../account/record-settings.ts'
import { openToBuy } from '../rail/open-to-buy.ts'
import type { Card } from './card.ts'
import { CARD_STATUS_LABELS, KYC_STATUS_LABELS } from './card-states.ts'
import type { Loads, Usage } from './card-usage.ts'

/** A card with what its record shows of its surroundings. */
export interface CardView {
  readonly card: Card
  readonly account: Pick<
    CardAccount,
    | 'companyName'
    | 'accountType'
    | 'binType'
    | 'programme'
    | 'unallocateFundAllowed'
    | 'recordSettings'
    | 'partnerSettings'
  >
  /** Whether nothing may be written about its user any more (decision C23). */
  readonly isUserErased: boolean
  readonly balancePaise: bigint
  /** Open holds of the card network; beyond the balance only where the network forced one. */
  readonly heldPaise: bigint
  readonly usage: Usage
  readonly loads: Loads
}

/** How an installation shows the record (decisions C8, F5). */
export interface CardForm {
  readonly timeZone: string
  readonly amounts: Config['CARD_AMOUNTS']
}

export const cardFormOf = ({
  BUSINESS_TIME_ZONE: timeZone,
  CARD_AMOUNTS: amounts,
}: Pick<Config, 'BUSINESS_TIME_ZONE' | 'CARD_AMOUNTS'>): CardForm => ({ timeZone, amounts })

/** Decision C8: rounded down when a spend left paise. */
const wholeRupees = (paise: bigint): number => Number(paise / 100n)
const named = <L extends Record<string, string>>(labels: L, name: keyof L & string) => ({
  name,
  label: labels[name]!,
})
const titleCase = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll('_', ' ')
    .replace(/\b[a-z]/g, (letter) => letter.toUpperCase())

/** What a record says of the holder. */
export const HOLDER_TEXTS = [
  'email',
  'mobile',
  'title',
  'firstName',
  'lastName',
  'gender',
  'specialDate',
  'address',
  'address2',
  'city',
  'state',
  'country',
  'pincode',
  'deliveryAddress',
  'deliveryAddress2',
  'deliveryCity',
  'deliveryState',
  'deliveryCountry',
  'deliveryPincode',
  'pan',
] as const

/** What a field says of the holder, for those who mask it. */
const PERSONAL: Partial<Record<(typeof HOLDER_TEXTS)[number], string>> = {
  email: 'address',
  mobile: 'mobile',
  firstName: 'name',
  lastName: 'name',
}

/** Spec section 2.4, the record of the creation response: every field, typed as carried, never `null` (decision C12). */
export function toCardRecord(view: CardView, { amounts, timeZone }: CardForm) {
  const { card, account } = view
  const holder = Object.fromEntries(HOLDER_TEXTS.map((name) => [name, card.holder[name] ?? ''])) as Record<
    (typeof HOLDER_TEXTS)[number],
    string
  >
  return {
    svcCardId: card.svcCardId,
    userId: card.userId,
    cardAccountId: card.cardAccountId,
    maskedNumber: card.maskedNumber,
    expiryMonth: String(card.expiryMonth).padStart(2, '0'),
    expiryYear: String(card.expiryYear),
    ...holder,
    ...statusFields(card, timeZone),
    ...moneyFields(view, amounts === 'whole' ? wholeRupees : paiseToWire),
    ...flagFields(view),
    companyId: card.companyId,
    companyName: account.companyName,
    accountType: { name: account.accountType, ...ACCOUNT_TYPES[account.accountType] },
    binType: { name: account.binType, label: titleCase(account.binType) },
    kitType: card.physical ? { name: 'PHYSICAL', label: 'Physical' } : { name: 'VIRTUAL', label: 'Virtual' },
    cardProgramme: account.programme,
    token: card.token,
    blockCode: card.blockCode,
    remarks: card.remarks,
    createdOn: textTimestamp(card.createdAt, timeZone),
    modifiedOn: textTimestamp(card.modifiedAt, timeZone),
    ...settingFields(settingsInForce(account)),
    ...unknownFields(),
  }
}

function statusFields(card: Card, timeZone: string) {
  const { physicalRequestedAt } = card
  return {
    primaryCard: true,
    prepaidCard: true,
    physicalCard: card.physical,
    cardStatus: named(CARD_STATUS_LABELS, card.status),
    kycStatus: named(KYC_STATUS_LABELS, card.kycStatus),
    physicalCardRequestDate: physicalRequestedAt ? textTimestamp(physicalRequestedAt, timeZone) : '',
    // Decision C18: says that there are delivery parts, however the request asked for them.
    physicalDeliveryAddressFlag: HOLDER_TEXTS.some(
      (name) => name.startsWith('delivery') && card.holder[name],
    ),
    cardActivated: card.activated,
    deleted: false,
  }
}

/** Of a period: what was spent in it less what came back in it, but not less than nothing where that was spent before. */
export const usedPaise = (net: bigint): bigint => (net > 0n ? net : 0n)

function moneyFields(view: CardView, rupeesOf: (paise: bigint) => number) {
  const { card, balancePaise, heldPaise, loads, usage } = view
  return {
    otbBalance: rupeesOf(openToBuy(view)),
    accountBalance: rupeesOf(balancePaise),
    loadAmount: String(rupeesOf(card.loadPaise)),
    lastAllocatedAmount: rupeesOf(loads.lastLoadPaise ?? card.loadPaise),
    svcCardTxnId: card.loadTransferId,
    usedMtd: paiseToWire(usedPaise(usage.monthPaise)),
    usedDtd: paiseToWire(usedPaise(usage.dayPaise)),
    usedYtd: paiseToWire(usedPaise(usage.yearPaise)),
    usedLtd: paiseToWire(usedPaise(usage.lifePaise)),
    // Decision C26: what was loaded less what was taken back.
    limitAllocatedLtd: paiseToWire(card.loadPaise + loads.reloadedPaise - loads.unloadedPaise),
    // Cards here have no surcharges.
    surchargeAmt: 0,
    holdBalance: paiseToWire(heldPaise),
    unAllocateHoldBalance: paiseToWire(loads.returningPaise),
  }
}

function flagFields({ account, card }: CardView) {
  return {
    physicalCardAllowed: true,
    panValidated: false,
    posAllowed: card.posAllowed,
    posAllowedAdmin: card.posAllowedAdmin,
    atmAllowed: card.atmAllowed,
    atmAllowedAdmin: card.atmAllowedAdmin,
    onlineAllowed: card.onlineAllowed,
    onlineAllowedAdmin: card.onlineAllowedAdmin,
    // Decision C7: a gift card is loaded once and never paid out.
    unallocateFundAllowed: account.unallocateFundAllowed,
    tncUnAllocateAllowed: false,
    tncUnAllocateAccepted: false,
    closedLoopCard: false,
    useAccountFunds: false,
    useParentFundAllowed: false,
  }
}

/** What the partner sets for all cards of the account, or for all its cards (decision C27). */
const settingFields = (settings: RecordSettings) => ({
  partnerLogo: settings.partnerLogo ?? '',
  extEntityId: settings.extEntityId ?? '',
  switchProvider: settings.switchProvider ?? '',
  tncVersionMasterId: settings.tncVersionMasterId ?? '',
  tncUrl: settings.tncUrl ?? '',
  defaultCardImage: settings.defaultCardImage ?? '',
  svcSupportEmail: settings.svcSupportEmail ?? '',
  svcSupportMobile: settings.svcSupportMobile ?? '',
  cardKitMasterId: settings.cardKitMasterId ?? 0,
})

/** What other systems would know: honest neutral values (decision C12). */
const unknownFields = () => ({
  liveImage: false,
  cKycEnabled: false,
  minKycOtpVerified: false,
  vKycAllowed: false,
  latestTnCVersionAccepted: false,
  latestKeyFactAccepted: false,
  latestTnCVersionAcceptedForPrimaryCard: false,
  latestKeyFactAcceptedCardForPrimaryCard: false,
  virtualAccountNumber: '',
})

/** The record of the incentive card search: the full record with the fields that section 2.4 adds for it. */
export function toIncentiveRecord(view: CardView, form: CardForm) {
  const { account, card, loads } = view
  const receivedPaise = card.loadPaise + loads.reloadedPaise
  return {
    ...toCardRecord(view, form),
    middleName: card.holder.middleName ?? '',
    primarySvcCardId: card.svcCardId,
    primarySvcCardUserId: card.userId,
    enableHoldAmount: false,
    minTransactionAmount: 0,
    totalRewardsReceived: paiseToWire(receivedPaise),
    // Decision C26: a point is a rupee.
    rewardPointsReceived: account.accountType === 'EMPLOYEE_REWARDS' ? wholeRupees(receivedPaise) : 0,
  }
}

export const strings = (...names: string[]) => Object.fromEntries(names.map((name) => [name, Type.String()]))
const booleans = (...names: string[]) => Object.fromEntries(names.map((name) => [name, Type.Boolean()]))
const numbers = (...names: string[]) => Object.fromEntries(names.map((name) => [name, Type.Number()]))
const choice = (names: string[], more: Record<string, TSchema> = {}) =>
  Type.Object({ name: Type.Enum(names), label: Type.String(), ...more }, { additionalProperties: false })
const Named = Type.Object({ name: Type.String(), label: Type.String() }, { additionalProperties: false })

const RECORD_FIELDS = {
  ...strings('svcCardId', 'userId', 'cardAccountId', 'maskedNumber', 'expiryMonth', 'expiryYear'),
  ...Object.fromEntries(
    HOLDER_TEXTS.map((name) => [name, Type.String({ 'x-personal': PERSONAL[name] ?? 'text' })]),
  ),
  otbBalance: Type.Integer({ description: 'Rupees, rounded down' }),
  accountBalance: Type.Integer({ description: 'Rupees, rounded down' }),
  lastAllocatedAmount: Type.Integer({ description: 'Rupees of the last load, rounded down' }),
  loadAmount: Type.String({ description: 'Whole rupees of the first load' }),
  cardStatus: choice(Object.keys(CARD_STATUS_LABELS)),
  kycStatus: choice(Object.keys(KYC_STATUS_LABELS)),
  accountType: choice(Object.keys(ACCOUNT_TYPES), { description: Type.String() }),
  binType: Named,
  kitType: Named,
  cardKitMasterId: Type.Integer(),
  ...strings(
    'physicalCardRequestDate',
    'companyId',
    'companyName',
    'svcCardTxnId',
    'token',
    'createdOn',
    'modifiedOn',
  ),
  ...strings(
    'cardProgramme',
    'blockCode',
    'partnerLogo',
    'extEntityId',
    'switchProvider',
    'tncVersionMasterId',
  ),
  remarks: Type.String({ 'x-personal': 'text' }),
  ...strings('tncUrl', 'virtualAccountNumber', 'defaultCardImage', 'svcSupportEmail', 'svcSupportMobile'),
  ...booleans(
    'primaryCard',
    'prepaidCard',
    'physicalCard',
    'physicalDeliveryAddressFlag',
    'cardActivated',
    'deleted',
  ),
  ...booleans(
    'physicalCardAllowed',
    'panValidated',
    'posAllowed',
    'posAllowedAdmin',
    'atmAllowed',
    'atmAllowedAdmin',
  ),
  ...booleans(
    'onlineAllowed',
    'onlineAllowedAdmin',
    'unallocateFundAllowed',
    'closedLoopCard',
    'useAccountFunds',
    'liveImage',
  ),
  ...booleans(
    'cKycEnabled',
    'useParentFundAllowed',
    'minKycOtpVerified',
    'vKycAllowed',
    'latestTnCVersionAccepted',
  ),
  ...booleans(
    'latestKeyFactAccepted',
    'latestTnCVersionAcceptedForPrimaryCard',
    'latestKeyFactAcceptedCardForPrimaryCard',
  ),
  ...booleans('tncUnAllocateAllowed', 'tncUnAllocateAccepted'),
  ...numbers(
    'usedMtd',
    'usedDtd',
    'usedYtd',
    'usedLtd',
    'limitAllocatedLtd',
    'surchargeAmt',
    'holdBalance',
    'unAllocateHoldBalance',
  ),
}

export const CardRecord = Type.Object(RECORD_FIELDS, { title: 'Card', additionalProperties: false })

export const IncentiveRecord = Type.Object(
  {
    ...RECORD_FIELDS,
    ...strings('middleName', 'primarySvcCardId', 'primarySvcCardUserId'),
    ...booleans('enableHoldAmount'),
    ...numbers('minTransactionAmount', 'totalRewardsReceived', 'rewardPointsReceived'),
  },
  { title: 'IncentiveCard', additionalProperties: false },
)
