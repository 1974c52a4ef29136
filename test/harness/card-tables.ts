import { expect } from 'vitest'

// The tables of spec sections 2.4 and 2.5, by type; written from the specification, not from our schema.
const STRINGS = `svcCardId userId cardAccountId maskedNumber expiryMonth expiryYear email mobile title firstName lastName
  gender specialDate address address2 city state country pincode pan physicalCardRequestDate deliveryAddress
  deliveryAddress2 deliveryCity deliveryState deliveryCountry deliveryPincode companyId loadAmount companyName
  svcCardTxnId token createdOn modifiedOn cardProgramme blockCode remarks partnerLogo extEntityId switchProvider
  tncVersionMasterId tncUrl virtualAccountNumber defaultCardImage svcSupportEmail svcSupportMobile`
const INTEGERS = 'otbBalance accountBalance lastAllocatedAmount cardKitMasterId'
const NUMBERS =
  'usedMtd usedDtd usedYtd usedLtd limitAllocatedLtd surchargeAmt holdBalance unAllocateHoldBalance'
const BOOLEANS = `primaryCard prepaidCard physicalCard physicalDeliveryAddressFlag cardActivated physicalCardAllowed
  panValidated posAllowed posAllowedAdmin atmAllowed atmAllowedAdmin onlineAllowed onlineAllowedAdmin
  unallocateFundAllowed deleted closedLoopCard useAccountFunds liveImage cKycEnabled useParentFundAllowed
  minKycOtpVerified vKycAllowed latestTnCVersionAccepted latestKeyFactAccepted latestTnCVersionAcceptedForPrimaryCard
  latestKeyFactAcceptedCardForPrimaryCard tncUnAllocateAllowed tncUnAllocateAccepted`
const OBJECTS = 'cardStatus kycStatus accountType binType kitType'
const INCENTIVE = {
  strings: 'middleName primarySvcCardId primarySvcCardUserId',
  numbers: 'minTransactionAmount totalRewardsReceived rewardPointsReceived',
  booleans: 'enableHoldAmount',
}
const CREATION = { strings: '', numbers: '', booleans: '' }
const REDUCED =
  'svcCardId userId cardAccountId expiryMonth expiryYear email mobile title firstName lastName companyId'

const words = (text: string) => text.split(/\s+/).filter(Boolean)

function expectFields(record: Record<string, unknown>, more: typeof CREATION): void {
  const strings = words(`${STRINGS} ${more.strings}`)
  const numbers = words(`${INTEGERS} ${NUMBERS} ${more.numbers}`)
  const booleans = words(`${BOOLEANS} ${more.booleans}`)
  const objects = words(OBJECTS)
  for (const name of strings) expect(typeof record[name], name).toBe('string')
  for (const name of numbers) expect(typeof record[name], name).toBe('number')
  for (const name of words(INTEGERS)) expect(Number.isInteger(record[name]), name).toBe(true)
  for (const name of booleans) expect(typeof record[name], name).toBe('boolean')
  for (const name of objects)
    expect(record[name], name).toMatchObject({ name: expect.any(String), label: expect.any(String) })
  expect(Object.keys(record).sort()).toEqual([...strings, ...numbers, ...booleans, ...objects].sort())
}

/** The payload of the creation response: every field of section 2.4, typed as carried, and no other. */
export const expectCreatedRecord = (record: Record<string, unknown>): void => expectFields(record, CREATION)

/** An item of the incentive search: the same with the fields that the section adds for it. */
export const expectIncentiveRecord = (record: Record<string, unknown>): void =>
  expectFields(record, INCENTIVE)

/** Section 2.5: exactly twelve fields. */
export function expectReducedRecord(record: Record<string, unknown>): void {
  for (const name of words(REDUCED)) expect(typeof record[name], name).toBe('string')
  expect(typeof record['otbBalance']).toBe('number')
  expect(Object.keys(record).sort()).toEqual([...words(REDUCED), 'otbBalance'].sort())
}
