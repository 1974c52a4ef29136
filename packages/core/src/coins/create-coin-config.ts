import { fail } from '@svc/contract/errors'
import { failField } from '@svc/contract/fail-fields'
import { ByTenant } from '@svc/kernel/by-tenant'
import { command } from '@svc/platform/command'
import { saveEvents } from '@svc/platform/outbox'
import { findCompanies } from '../tenants/company.ts'
import { type CoinConfig, coinConfigEvent, requireConsistent, requireNoOverlap } from './coin-config.ts'
import { insertCoinConfigs, lockCoinConfigs } from './coin-config-store.ts'

/** What a partner wants a configuration to be; what is absent has no value. */
export interface CoinConfigRequest {
  /** `DEFAULT` by default. */
  readonly configuration?: CoinConfig['configuration'] | undefined
  readonly companyId?: string | undefined
  readonly event: string
  readonly amount: bigint
  readonly title: string
  readonly description?: string | undefined
  /** The time of creation by default. */
  readonly validFrom?: Date | undefined
  readonly validTo?: Date | undefined
  readonly perUserDailyLimit?: bigint | undefined
  readonly coinsExpireAfterDays?: number | undefined
  readonly activation?: CoinConfig['activation'] | undefined
  readonly activateAfterDays?: number | undefined
}

interface CreateCoinConfig {
  readonly partnerId: string
  readonly request: CoinConfigRequest
}

type NewCoinConfig = Omit<CoinConfig, 'validFrom' | 'createdAt' | 'modifiedAt'> & {
  readonly validFrom: Date | null
}

/** Creates the configuration of what an event awards (decision K3). */
export const createCoinConfig = command({
  name: 'createCoinConfig',

  prepare:
    ({ config, newId }) =>
    ({ partnerId, request }: CreateCoinConfig) => {
      const coinConfigId = newId('ccf')
      return {
        tenantId: partnerId,
        config: newConfig(partnerId, coinConfigId, request),
        eventId: newId('evt'),
        timeZone: config.BUSINESS_TIME_ZONE,
      }
    },

  async lock(tx, creates) {
    const configs = await lockCoinConfigs(
      tx,
      creates.map(({ tenantId, config: { event } }) => ({ tenantId, event })),
    )
    const companies = await findCompanies(
      tx,
      creates.flatMap(({ tenantId, config: { companyId } }) =>
        companyId === null ? [] : [{ tenantId, companyId }],
      ),
    )
    return new ByTenant((tenantId) => ({ configs: configs.of(tenantId), companies: companies.of(tenantId) }))
  },

  decide({ configs, companies }, create, now) {
    const { companyId, validFrom } = create.config
    if (companyId !== null && !companies.has(companyId)) fail('company_not_found')
    const config: CoinConfig = {
      ...create.config,
      validFrom: validFrom ?? now,
      createdAt: now,
      modifiedAt: now,
    }
    requireConsistent(config)
    requireNoOverlap(config, configs.values())
    return { config, create }
  },

  apply: ({ configs }, { config }) => void configs.set(config.coinConfigId, config),

  save(tx, decisions) {
    insertCoinConfigs(
      tx,
      decisions.map(({ config }) => config),
    )
    saveEvents(
      tx,
      decisions.map(({ config, create }) => coinConfigEvent(config, create.eventId, create.timeZone)),
    )
  },
})

function newConfig(partnerId: string, coinConfigId: string, request: CoinConfigRequest): NewCoinConfig {
  const { configuration = 'DEFAULT', companyId = null, event, amount, title } = request
  if (configuration === 'CUSTOM' && companyId === null)
    failField('companyId', 'required', 'is required for a CUSTOM configuration')
  if (configuration === 'DEFAULT' && companyId !== null)
    failField('companyId', 'not_allowed', 'is accepted for a CUSTOM configuration only')
  return {
    coinConfigId,
    partnerId,
    configuration,
    companyId,
    event,
    amount,
    title,
    description: request.description ?? null,
    status: 'ACTIVE',
    validFrom: request.validFrom ?? null,
    validTo: request.validTo ?? null,
    perUserDailyLimit: request.perUserDailyLimit ?? null,
    coinsExpireAfterDays: request.coinsExpireAfterDays ?? null,
    activation: request.activation ?? null,
    activateAfterDays: request.activateAfterDays ?? null,
    revision: 1,
  }
}
