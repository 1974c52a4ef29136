import type { Config } from '@svc/contract/config'
import { type Database, isUnavailable } from '@svc/platform/db/database'
import type { OwnersSetting } from '@svc/platform/db/owners-settings'
import { statement } from '@svc/platform/db/statement'
import type { Log } from '@svc/platform/log'
import { chargeSettings } from './charging.ts'

const OTHERS = '(day_ends_at, time_zone, state, tax_rates) is distinct from ($1::integer, $2, $3, $4::jsonb)'
const STORE = `update svc.charge_terms set (day_ends_at, time_zone, state, tax_rates) = ($1::integer, $2, $3, $4::jsonb) where ${OTHERS}`
const DIFFERENT = statement('charge_terms_different', `select from charge_terms where ${OTHERS}`)

function valuesOf(config: Config): readonly unknown[] {
  const { dayEndsAt, platformState, taxRates, timeZone } = chargeSettings(config)
  const rates = Object.fromEntries(taxRates.map(({ from, basisPoints }) => [from, basisPoints]))
  return [dayEndsAt, timeZone, platformState, JSON.stringify(rates)]
}

/** What payments are charged by beside the fees of their merchants, as the database checks it, whichever login enters it. */
export const chargeTermsOf = (config: Config): OwnersSetting => [STORE, valuesOf(config)]

/** Says where the settings are not what the database checks by: no fee is entered by them then. */
export async function warnOfOtherTerms(database: Database, config: Config, log: Log): Promise<void> {
  if (!database.hasOperators) return
  try {
    const [other] = await database.operate((tx) => tx.query(DIFFERENT, valuesOf(config) as unknown[]))
    if (other)
      log.warn(
        'BUSINESS_DAY_CUTOFF, BUSINESS_TIME_ZONE, GST_RATES or GST_STATE are not what the database checks fees by; svc admin migrate with DATABASE_OWNER_URL stores these',
      )
  } catch (error) {
    if (!isUnavailable(error)) throw error
    log.warn({ err: error }, 'the terms of charges are not compared with the settings; the next start does')
  }
}
