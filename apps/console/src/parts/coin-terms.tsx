import { Group, NumberInput, Select, Text, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { Schemas } from '../api.ts'
import { needed } from './form-dialog.tsx'
import { count, counted } from './money.tsx'

type CoinConfig = Schemas['CoinConfig']

export interface CoinTerms extends Record<string, unknown> {
  title: string
  description: string
  amount: number | string
  perUserDailyLimit: number | string
  coinsExpireAfterDays: number | string
  active: string
  activateAfterDays: number | string
}

const atLeastOne = (value: number | string) => (Number(value) >= 1 ? null : 'A whole number, at least 1')
const orNone = (value: number | string) => (value === '' ? null : atLeastOne(value))

export const TERM_RULES = {
  title: needed,
  amount: atLeastOne,
  perUserDailyLimit: orNone,
  coinsExpireAfterDays: orNone,
  activateAfterDays: (value: number | string, { active }: CoinTerms) =>
    active === 'after days' ? atLeastOne(value) : null,
}

const WHEN_ACTIVE = [
  { value: 'at once', label: 'At once' },
  { value: 'after days', label: 'After some days' },
  { value: 'confirmed', label: 'When the partner confirms each' },
]

const activationOf = ({ active, activateAfterDays }: Pick<CoinTerms, 'active' | 'activateAfterDays'>) => ({
  activation: active === 'confirmed' ? ('CONFIRMATION' as const) : null,
  activateAfterDays: active === 'after days' ? Number(activateAfterDays) : null,
})

const activeOf = ({ activation, activateAfterDays }: CoinConfig): string => {
  if (activation === 'CONFIRMATION') return 'confirmed'
  return activateAfterDays === undefined ? 'at once' : 'after days'
}

export function TermFields<V extends CoinTerms>({ form }: { readonly form: UseFormReturnType<V> }) {
  const whole = { allowDecimal: false, allowNegative: false } as const
  return (
    <>
      <TextInput label="Title" description="Shown to the holder" {...form.getInputProps('title')} />
      <TextInput label="Description" {...form.getInputProps('description')} />
      <Group grow align="start">
        <NumberInput
          label="Coins"
          description="For each event"
          {...whole}
          {...form.getInputProps('amount')}
        />
        <NumberInput
          label="Daily limit"
          description="Of one user; empty for none"
          {...whole}
          {...form.getInputProps('perUserDailyLimit')}
        />
        <NumberInput
          label="Days they last"
          description="Empty for ever"
          {...whole}
          {...form.getInputProps('coinsExpireAfterDays')}
        />
      </Group>
      <Group grow align="start">
        <Select
          label="Active"
          description="Until then coins are pending"
          data={WHEN_ACTIVE}
          allowDeselect={false}
          {...form.getInputProps('active')}
        />
        {form.values['active'] === 'after days' && (
          <NumberInput
            label="Days until then"
            description="From the award on"
            {...whole}
            {...form.getInputProps('activateAfterDays')}
          />
        )}
      </Group>
    </>
  )
}

const numberOrNone = (value: number | string): number | null => (value === '' ? null : Number(value))

/** Changed terms as the service takes them: what is empty goes. */
export const wantedOf = ({
  title,
  description,
  amount,
  perUserDailyLimit,
  coinsExpireAfterDays,
  ...others
}: CoinTerms) => ({
  title,
  amount: Number(amount),
  description: description === '' ? null : description,
  perUserDailyLimit: numberOrNone(perUserDailyLimit),
  coinsExpireAfterDays: numberOrNone(coinsExpireAfterDays),
  ...activationOf(others),
})

export const NO_TERMS: CoinTerms = {
  title: '',
  description: '',
  amount: '',
  perUserDailyLimit: '',
  coinsExpireAfterDays: '',
  active: 'at once',
  activateAfterDays: '',
}

/** The terms of a configuration as its form has them. */
export const termsOf = (config: CoinConfig): CoinTerms => ({
  title: config.title,
  description: config.description ?? '',
  amount: config.amount,
  perUserDailyLimit: config.perUserDailyLimit ?? '',
  coinsExpireAfterDays: config.coinsExpireAfterDays ?? '',
  active: activeOf(config),
  activateAfterDays: config.activateAfterDays ?? '',
})

/** Terms of a new configuration: what is empty is left out. */
export const newTermsOf = (terms: CoinTerms) => {
  const { title, amount, description, perUserDailyLimit, coinsExpireAfterDays } = terms
  const { activation, activateAfterDays } = activationOf(terms)
  return {
    title,
    amount: Number(amount),
    ...(description !== '' && { description }),
    ...(perUserDailyLimit !== '' && { perUserDailyLimit: Number(perUserDailyLimit) }),
    ...(coinsExpireAfterDays !== '' && { coinsExpireAfterDays: Number(coinsExpireAfterDays) }),
    ...(activation && { activation }),
    ...(activateAfterDays && { activateAfterDays }),
  }
}

const SAMPLE_EVENTS = 3

/** What three events of one user on one day would award by these terms. */
export function TermSample({ terms }: { readonly terms: CoinTerms }) {
  const each = Number(terms.amount)
  if (!(each >= 1)) return undefined
  const most = terms.perUserDailyLimit === '' ? Infinity : Number(terms.perUserDailyLimit)
  const awarded = Math.min(SAMPLE_EVENTS, Math.floor(most / each))
  const activeFrom = {
    'at once': 'They can be redeemed at once',
    'after days': `They can be redeemed after ${counted(Number(terms.activateAfterDays), 'day')}`,
    confirmed: 'They can be redeemed once your program confirms them',
  }[terms.active]
  const until =
    terms.coinsExpireAfterDays === ''
      ? 'and do not expire.'
      : `and expire ${counted(Number(terms.coinsExpireAfterDays), 'day')} later.`
  return (
    <Text size="sm" c="dimmed" role="status">
      Sample: a user with {SAMPLE_EVENTS} purchases on one day gets {counted(awarded * each, 'coin')}
      {awarded < SAMPLE_EVENTS && ` (${count(awarded)} of them are within the daily limit)`}. {activeFrom}{' '}
      {until}
    </Text>
  )
}
