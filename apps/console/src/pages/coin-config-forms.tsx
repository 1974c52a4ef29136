import { TextInput } from '@mantine/core'
import { api, responseOf, type Schemas } from '../api.ts'
import { type FormKey, once } from '../form-key.ts'
import {
  type CoinTerms,
  NO_TERMS,
  newTermsOf,
  TERM_RULES,
  TermFields,
  termsOf,
  wantedOf,
} from '../parts/coin-terms.tsx'
import { ConfirmAction } from '../parts/confirm-action.tsx'
import { FormDialog, needed } from '../parts/form-dialog.tsx'
import { Picker } from '../parts/picker.tsx'
import { queryClient } from '../session.ts'

type Config = Schemas['CoinConfig']

const changed = () => queryClient.invalidateQueries({ queryKey: ['coin-configs'] })

export function CreateCoinConfig() {
  return (
    <FormDialog
      label="Create configuration"
      send="Create"
      initial={{
        partnerId: '',
        event: '',
        ...NO_TERMS,
      }}
      rules={{ ...TERM_RULES, partnerId: needed, event: needed }}
      fields={(form) => (
        <>
          <Picker of="partner" {...form.getInputProps('partnerId')} />
          <TextInput label="Event" placeholder="referral.completed" {...form.getInputProps('event')} />
          <TermFields form={form} />
        </>
      )}
      submit={async (values, key) => {
        const { partnerId, event, ...terms } = values
        await responseOf(
          api.POST('/coin-configs', {
            body: {
              partnerId,
              config: { event: event.trim(), ...newTermsOf(terms) },
            },
            params: { header: once(key) },
          }),
        )
        await changed()
      }}
    />
  )
}

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
      <FormDialog<CoinTerms>
        label="Edit"
        send="Save"
        variant="default"
        initial={termsOf(config)}
        rules={TERM_RULES}
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
