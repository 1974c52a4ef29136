-- The least that may be paid of a suggested amount: `mam` of the string.
alter table qr_codes add column minimum_paise bigint;
alter table qr_codes add constraint minimum_of_suggested_amounts
  check (minimum_paise is null or (minimum_paise between 1 and amount_paise and not fixed_amount)) not valid;
