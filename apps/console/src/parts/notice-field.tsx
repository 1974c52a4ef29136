import { TextInput, type TextInputProps } from '@mantine/core'

/** Names the bank notice in quarantine that an operator follows; to be left empty where there is none. */
export const NoticeField = (input: TextInputProps) => (
  <TextInput
    label="Bank notice"
    description="The notice in quarantine that says so, if there is one"
    placeholder="rnt_…"
    maxLength={64}
    {...input}
  />
)
