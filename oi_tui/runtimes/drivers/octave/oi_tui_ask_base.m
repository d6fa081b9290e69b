## What a call returns in the base workspace; `ans` stays what it was there.
function value = oi_tui_ask_base (call)
  had = true;
  try
    before = evalin ("base", "ans;");
  catch
    had = false;
  end_try_catch
  value = evalin ("base", call);
  if (had)
    assignin ("base", "ans", before);
  else
    evalin ("base", "clear ans;");
  endif
endfunction
