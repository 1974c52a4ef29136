import { Group, NumberInput, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import { api, responseOf, type Schemas } from '../api.ts'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Picker } from '../parts/picker.tsx'
import { queryClient } from '../session.ts'
import { newIdempotencyKey } from '../words.ts'

type Config = Schemas['CoinConfig']

interface Terms extends Record<string, unknown> {
  title: string
  description: string
  amount: number | string
  perUserDailyLimit: number | string
  coinsExpireAfterDays: number | string
}

const changed = () => queryClient.invalidateQueries({ queryKey: ['coin-configs'] })
const once = () => ({ 'idempotency-key': newIdempotencyKey() })
const atLeastOne = (value: number | string) => (Number(value) >= 1 ? null : 'A whole number, at least 1')
const orNone = (value: number | string) => (value === '' ? null : atLeastOne(value))

const RULES = {
  title: needed,
  amount: atLeastOne,
  perUserDailyLimit: orNone,
  coinsExpireAfterDays: orNone,
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
      }}
      rules={{ ...RULES, partnerId: needed, event: needed }}
      fields={(form) => (
        <>
          <Picker of="partner" {...form.getInputProps('partnerId')} />
          <TextInput label="Event" placeholder="referral.completed" {...form.getInputProps('event')} />
          <TermFields form={form} />
        </>
      )}
      submit={async ({
        partnerId,
        event,
        title,
        description,
        amount,
        perUserDailyLimit,
        coinsExpireAfterDays,
      }) => {
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
              },
            },
            headers: once(),
          }),
        )
        await changed()
      }}
    />
  )
}

const numberOrNone = (value: number | string): number | null => (value === '' ? null : Number(value))

/** Terms of a configuration, on the revision that is shown; and its end, or its return. */
export function ChangeCoinConfig({ config }: { readonly config: Config }) {
  const { coinConfigId, revision, status } = config
  const params = { path: { coinConfigId } }
  const update = async (terms: object) => {
    await responseOf(
      api.PATCH('/coin-configs/{coinConfigId}', { params, body: { revision, terms }, headers: once() }),
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
        }}
        rules={RULES}
        fields={(form) => <TermFields form={form} />}
        submit={({ title, description, amount, perUserDailyLimit, coinsExpireAfterDays }) =>
          update({
            title,
            amount: Number(amount),
            description: description === '' ? null : description,
            perUserDailyLimit: numberOrNone(perUserDailyLimit),
            coinsExpireAfterDays: numberOrNone(coinsExpireAfterDays),
          })
        }
      />
      {status === 'ACTIVE' ? (
        <ConfirmAction
          label="Deactivate"
          confirm="Stop its awards"
          danger
          run={async () => {
            await responseOf(api.POST('/coin-configs/{coinConfigId}/deactivate', { params, headers: once() }))
            await changed()
          }}
        >
          Events award nothing by it any more; coins that were awarded stay. It can be activated again.
        </ConfirmAction>
      ) : (
        <ConfirmAction label="Activate" confirm="Activate" run={() => update({ status: 'ACTIVE' })}>
          Events award coins by it again, within its validity.
        </ConfirmAction>
      )}
    </>
  )
}
