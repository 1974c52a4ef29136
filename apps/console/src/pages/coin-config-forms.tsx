import { Group, NumberInput, Select, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { api, responseOf, type Schemas } from '../api.ts'
import { type FormKey, once } from '../form-key.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Picker } from '../parts/picker.tsx'
import { queryClient } from '../session.ts'

type Config = Schemas['CoinConfig']

interface Terms extends Record<string, unknown> {
  title: string
  description: string
  amount: number | string
  perUserDailyLimit: number | string
  coinsExpireAfterDays: number | string
  active: string
  activateAfterDays: number | string
}

const changed = () => queryClient.invalidateQueries({ queryKey: ['coin-configs'] })
const atLeastOne = (value: number | string) => (Number(value) >= 1 ? null : 'A whole number, at least 1')
const orNone = (value: number | string) => (value === '' ? null : atLeastOne(value))

const RULES = {
  title: needed,
  amount: atLeastOne,
  perUserDailyLimit: orNone,
  coinsExpireAfterDays: orNone,
  activateAfterDays: (value: number | string, { active }: Terms) =>
    active === 'after days' ? atLeastOne(value) : null,
}

const WHEN_ACTIVE = [
  { value: 'at once', label: 'At once' },
  { value: 'after days', label: 'After some days' },
  { value: 'confirmed', label: 'When the partner confirms each' },
]

const activationOf = ({ active, activateAfterDays }: Pick<Terms, 'active' | 'activateAfterDays'>) => ({
  activation: active === 'confirmed' ? ('CONFIRMATION' as const) : null,
  activateAfterDays: active === 'after days' ? Number(activateAfterDays) : null,
})

const activeOf = ({ activation, activateAfterDays }: Config): string => {
  if (activation === 'CONFIRMATION') return 'confirmed'
  return activateAfterDays === undefined ? 'at once' : 'after days'
}

function TermFields<V extends Terms>({ form }: { readonly form: UseFormReturnType<V> }) {
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

export function CreateCoinConfig() {
  return (
    <FormDialog
      label="Create configuration"
      send="Create"
      initial={{
        partnerId: '',
        event: '',
        title: '',
        description: '',
        amount: '' as number | string,
        perUserDailyLimit: '' as number | string,
        coinsExpireAfterDays: '' as number | string,
        active: 'at once',
        activateAfterDays: '' as number | string,
      }}
      rules={{ ...RULES, partnerId: needed, event: needed }}
      fields={(form) => (
        <>
          <Picker of="partner" {...form.getInputProps('partnerId')} />
          <TextInput label="Event" placeholder="referral.completed" {...form.getInputProps('event')} />
          <TermFields form={form} />
        </>
      )}
      submit={async (values, key) => {
        const { partnerId, event, title, description, amount, perUserDailyLimit, coinsExpireAfterDays } =
          values
        const { activation, activateAfterDays } = activationOf(values)
        await responseOf(
          api.POST('/coin-configs', {
            body: {
              partnerId,
              config: {
                event: event.trim(),
                title,
                amount: Number(amount),
                ...(description !== '' && { description }),
                ...(perUserDailyLimit !== '' && { perUserDailyLimit: Number(perUserDailyLimit) }),
                ...(coinsExpireAfterDays !== '' && { coinsExpireAfterDays: Number(coinsExpireAfterDays) }),
                ...(activation && { activation }),
                ...(activateAfterDays && { activateAfterDays }),
              },
            },
            params: { header: once(key) },
          }),
        )
        await changed()
      }}
    />
  )
}

const numberOrNone = (value: number | string): number | null => (value === '' ? null : Number(value))

const wantedOf = ({
  title,
  description,
  amount,
  perUserDailyLimit,
  coinsExpireAfterDays,
  ...others
}: Terms) => ({
  title,
  amount: Number(amount),
  description: description === '' ? null : description,
  perUserDailyLimit: numberOrNone(perUserDailyLimit),
  coinsExpireAfterDays: numberOrNone(coinsExpireAfterDays),
  ...activationOf(others),
})

/** Terms of a configuration, on the revision that is shown; and its end, or its return. */
export function ChangeCoinConfig({ config }: { readonly config: Config }) {
  const { coinConfigId, revision, status } = config
  const path = { coinConfigId }
  const update = async (terms: object, key: FormKey) => {
    await responseOf(
      api.PATCH('/coin-configs/{coinConfigId}', {
        params: { path, header: once(key) },
        body: { revision, terms },
      }),
    )
    await changed()
  }
  return (
    <>
      <FormDialog<Terms>
        label="Edit"
        send="Save"
        variant="default"
        initial={{
          title: config.title,
          description: config.description ?? '',
          amount: config.amount,
          perUserDailyLimit: config.perUserDailyLimit ?? '',
          coinsExpireAfterDays: config.coinsExpireAfterDays ?? '',
          active: activeOf(config),
          activateAfterDays: config.activateAfterDays ?? '',
        }}
        rules={RULES}
        fields={(form) => <TermFields form={form} />}
        submit={(terms, key) => update(wantedOf(terms), key)}
      />
      {status === 'ACTIVE' ? (
        <ConfirmAction
          label="Deactivate"
          confirm="Stop its awards"
          danger
          run={async (_, key) => {
            await responseOf(
              api.POST('/coin-configs/{coinConfigId}/deactivate', { params: { path, header: once(key) } }),
            )
            await changed()
          }}
        >
          Events award nothing by it any more; coins that were awarded stay. It can be activated again.
        </ConfirmAction>
      ) : (
        <ConfirmAction
          label="Activate"
          confirm="Activate"
          run={(_, key) => update({ status: 'ACTIVE' }, key)}
        >
          Events award coins by it again, within its validity.
        </ConfirmAction>
      )}
    </>
  )
}
