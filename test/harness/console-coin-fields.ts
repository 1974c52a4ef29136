import { newEvent } from './coins.ts'
import type { Browser } from './console.ts'
import { after, EDGES, type Field, HOUR_MS, reported } from './instant-fields.ts'
import type { TestPartner } from './partner.ts'

const SINCE = '2000-01-01T00:00:00Z'

/** The dates of coin configurations that an operator creates and changes for a partner, and of a dry run. */
export function consoleCoinFields(
  browser: Browser,
  { partnerId, userId }: Pick<TestPartner, 'partnerId' | 'userId'>,
  event: string,
): Record<string, Field> {
  const create = (more: object) => {
    const config = { event: newEvent(), amount: 1, title: 'Thanks', validFrom: SINCE, ...more }
    return browser.post('/coin-configs', { partnerId, config })
  }
  const fieldsOf = (name: 'validFrom' | 'validTo'): Record<string, Field> => {
    const instants = name === 'validTo' ? [after(HOUR_MS), EDGES[1]] : [after(HOUR_MS), ...EDGES]
    return {
      [`console.createCoinConfig ${name}`]: {
        send: async (text) => reported(await create({ [name]: text }), (json) => ({ instant: json[name] })),
        instants,
      },
      [`console.updateCoinConfig ${name}`]: {
        async send(text) {
          const { coinConfigId } = (await create({})).json
          const change = { revision: 1, terms: { [name]: text } }
          const response = await browser.send('PATCH', `/coin-configs/${coinConfigId}`, change)
          return reported(response, (json) => ({ instant: json[name] }))
        },
        instants,
      },
    }
  }
  return {
    ...fieldsOf('validFrom'),
    ...fieldsOf('validTo'),
    'console.tryAllocation occurredOn': {
      async send(occurredOn) {
        const response = await browser.post('/coin-dry-runs', { userId, event, occurredOn })
        return reported(response, (json) => ({ instant: json.occurredOn }))
      },
      instants: [after(-HOUR_MS)],
    },
  }
}
